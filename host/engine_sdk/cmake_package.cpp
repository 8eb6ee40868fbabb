#include "host/engine_sdk/cmake_package.hpp"

#include <utility>

namespace enginehost::engine_sdk {
namespace {

constexpr Package packages[] = {
    {"onnxruntime", "onnxruntime", "",
     "EngineHost's own declarations, onnxruntime_c_api_subset.h: the wheels have no headers"},
    {"pytorch", "Torch", "torch/include/", "the wheel's"},
};

// A requested version is met by the same major version, not older; and pointers must have the same size.
constexpr std::string_view version_file = R"cmake(# Written by engine-cache sdk.
set(PACKAGE_VERSION "@VERSION@")
if(NOT CMAKE_SIZEOF_VOID_P STREQUAL "" AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(PACKAGE_VERSION "@VERSION@ (64 bit)")
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
elseif(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR NOT PACKAGE_FIND_VERSION_MAJOR EQUAL "@MAJOR@")
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
)cmake";

constexpr std::string_view onnxruntime_config =
    R"cmake(# Written by engine-cache sdk. The folder may be moved.
#
# Imported target: onnxruntime::onnxruntime
#
# The published wheels have no headers. include/onnxruntime_c_api_subset.h declares the part of the C API that
# EngineHost uses itself. For the whole API, set onnxruntime_INCLUDE_DIR to a folder with onnxruntime_c_api.h of
# release @VERSION@ or an older one.
get_filename_component(_onnxruntime_sdk "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(onnxruntime_VERSION "@VERSION@")
set(_onnxruntime_include "${_onnxruntime_sdk}/include")
if(onnxruntime_INCLUDE_DIR)
  set(_onnxruntime_api "${onnxruntime_INCLUDE_DIR}/onnxruntime_c_api.h")
  if(NOT EXISTS "${_onnxruntime_api}")
    set(onnxruntime_FOUND FALSE)
    set(onnxruntime_NOT_FOUND_MESSAGE "onnxruntime_INCLUDE_DIR is ${onnxruntime_INCLUDE_DIR}, which has no onnxruntime_c_api.h")
    return()
  endif()
  file(STRINGS "${_onnxruntime_api}" _onnxruntime_line REGEX "^#define ORT_API_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" _onnxruntime_number "${_onnxruntime_line}")
  if(NOT _onnxruntime_number OR _onnxruntime_number GREATER "@MINOR@")
    set(onnxruntime_FOUND FALSE)
    set(onnxruntime_NOT_FOUND_MESSAGE
      "${_onnxruntime_api} is for version \"${_onnxruntime_number}\" of the API; the library serves versions up to @MINOR@")
    return()
  endif()
  list(PREPEND _onnxruntime_include "${onnxruntime_INCLUDE_DIR}")
endif()
if(NOT TARGET onnxruntime::onnxruntime)
  add_library(onnxruntime::onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime::onnxruntime PROPERTIES
    IMPORTED_LOCATION "${_onnxruntime_sdk}/lib/@FILE@"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_onnxruntime_include}")
endif()
)cmake";

constexpr std::string_view torch_config = R"cmake(# Written by engine-cache sdk. The folder may be moved.
#
# Imported target: torch; and TORCH_LIBRARIES, TORCH_INCLUDE_DIRS, TORCH_CXX_FLAGS
#
# The part of PyTorch for processors. Libraries of NVIDIA's that it is linked with are here as stand-ins, which do nothing.
get_filename_component(_torch_sdk "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Torch_VERSION "@VERSION@")
set(TORCH_INCLUDE_DIRS "${_torch_sdk}/include" "${_torch_sdk}/include/torch/csrc/api/include")
if(NOT TARGET torch)
  find_package(Threads REQUIRED)
  foreach(_torch_library c10 torch_cpu)
    add_library(${_torch_library} SHARED IMPORTED)
    set_target_properties(${_torch_library} PROPERTIES
      IMPORTED_LOCATION "${_torch_sdk}/lib/lib${_torch_library}.so"
      IMPORTED_SONAME "lib${_torch_library}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${TORCH_INCLUDE_DIRS}"
      INTERFACE_COMPILE_FEATURES cxx_std_20
      INTERFACE_COMPILE_DEFINITIONS "@DEFINITIONS@")
  endforeach()
  set_target_properties(torch_cpu PROPERTIES INTERFACE_LINK_LIBRARIES "c10;Threads::Threads")
  add_library(torch INTERFACE IMPORTED)
  # Operators register themselves when the library is loaded, also in a program that uses no symbol of it.
  set_target_properties(torch PROPERTIES
    INTERFACE_LINK_LIBRARIES "-Wl,--push-state,--no-as-needed;torch_cpu;-Wl,--pop-state;c10")
endif()
set(TORCH_LIBRARIES torch)
set(TORCH_CXX_FLAGS "@FLAGS@")
set(TORCH_FOUND TRUE)
)cmake";

std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string result(text);
  for (const auto& [name, value] : values)
    for (std::size_t at = 0; (at = result.find(name, at)) != std::string::npos; at += value.size())
      result.replace(at, name.size(), value);
  return result;
}

std::string number_in(const std::string& version, int place) {
  std::size_t begin = 0;
  for (; place > 0; --place) {
    const std::size_t dot = version.find('.', begin);
    if (dot == std::string::npos) return "0";
    begin = dot + 1;
  }
  return version.substr(begin, version.find_first_not_of("0123456789", begin) - begin);
}

}  // namespace

const Package* package_of(std::string_view engine) {
  for (const Package& package : packages)
    if (package.engine == engine) return &package;
  return nullptr;
}

std::vector<GeneratedFile> generated_files(const Package& package, const std::string& version,
                                           const std::vector<Library>& libraries,
                                           const std::string& cxx11_abi) {
  const bool is_torch = package.engine == "pytorch";
  const std::string base = "lib/cmake/" + std::string(package.name) + "/" + std::string(package.name);
  const std::string abi = cxx11_abi.empty() ? "" : "_GLIBCXX_USE_CXX11_ABI=" + cxx11_abi;
  std::vector<std::pair<std::string_view, std::string>> values{{"@VERSION@", version},
                                                               {"@MAJOR@", number_in(version, 0)},
                                                               {"@MINOR@", number_in(version, 1)},
                                                               {"@DEFINITIONS@", abi},
                                                               {"@FLAGS@", abi.empty() ? "" : "-D" + abi}};
  for (const Library& library : libraries)
    if (library.file.starts_with("libonnxruntime.so")) {
      values.emplace_back("@FILE@", library.file);
      values.emplace_back("@SONAME@", library.soname.empty() ? library.file : library.soname);
    }
  std::vector<GeneratedFile> files{
      {base + "Config.cmake", filled(is_torch ? torch_config : onnxruntime_config, values)},
      {base + "ConfigVersion.cmake", filled(version_file, values)}};
  if (package.headers_in_archive.empty())
    files.push_back({"include/onnxruntime_c_api_subset.h", std::string(onnxruntime_header)});
  return files;
}

}  // namespace enginehost::engine_sdk
