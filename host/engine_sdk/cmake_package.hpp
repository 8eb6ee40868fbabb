// The CMake package of each engine that has an SDK.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::engine_sdk {

struct Package {
  std::string_view engine;
  std::string_view name;  // as find_package() takes it
  std::string_view
      headers_in_archive;    // the folder that becomes include/; empty: EngineHost writes some itself
  std::string_view headers;  // their origin, for a sentence
};

// Returns nullptr for an engine without an SDK. The data is static.
const Package* package_of(std::string_view engine);

struct GeneratedFile {
  std::string path;  // in the folder of the SDK
  std::string text;
};

// A library of the SDK, as the package names it.
struct Library {
  std::string file;    // "libonnxruntime.so.1.32.0", in lib/
  std::string soname;  // "libonnxruntime.so.1"; empty: none
};

// Returns the files of the package and headers that EngineHost writes itself. `cxx11_abi`: of the libraries'
// C++ ("0", "1"; empty: a C interface, or unknown).
std::vector<GeneratedFile> generated_files(const Package& package, const std::string& version,
                                           const std::vector<Library>& libraries,
                                           const std::string& cxx11_abi);

// EngineHost's own declarations of a part of ONNX Runtime's C API.
extern const std::string_view onnxruntime_header;

}  // namespace enginehost::engine_sdk
