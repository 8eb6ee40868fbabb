# macOS builds on Debian: third-party headers of this machine's packages, as a folder of links, and stub libraries
# (.tbd: lists of names, like Apple's SDK) with the names that the packages' libraries export. Linking against them
# shows that every name used exists in the library. The result cannot run.
set(ENGINEHOST_STUBS "${CMAKE_BINARY_DIR}/macos-stubs")
file(MAKE_DIRECTORY "${ENGINEHOST_STUBS}/include/openssl")
# CMake finds out with sw_vers whether macOS has LC_RPATH. It is missing here, and install names would get no "@rpath/".
set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG "-Wl,-rpath,")
set(CMAKE_SHARED_LIBRARY_RUNTIME_CXX_FLAG "-Wl,-rpath,")
set(debian_library "/usr/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu")
set(debian_include "/usr/include/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu")

file(GLOB headers /usr/include/openssl/*.h "${debian_include}/openssl/*.h")
foreach(header IN LISTS headers)
  get_filename_component(name "${header}" NAME)
  file(CREATE_LINK "${header}" "${ENGINEHOST_STUBS}/include/openssl/${name}" SYMBOLIC)
endforeach()
foreach(name "${debian_include}/curl" /usr/include/archive.h /usr/include/archive_entry.h)
  get_filename_component(link "${name}" NAME)
  file(CREATE_LINK "${name}" "${ENGINEHOST_STUBS}/include/${link}" SYMBOLIC)
endforeach()

# Apple headers that the package lacks, written after the functions' manual pages.
file(CONFIGURE OUTPUT "${ENGINEHOST_STUBS}/include/sys/xattr.h" @ONLY CONTENT "#pragma once
#include <stdint.h>
#include <sys/types.h>
#define XATTR_NOFOLLOW 1
#ifdef __cplusplus
extern \"C\"
#endif
ssize_t getxattr(const char* path, const char* name, void* value, size_t size, uint32_t position, int options);
")
include_directories(SYSTEM "${ENGINEHOST_STUBS}/include")

# The folder of libraries that macOS does not provide for linking: Homebrew's prefix for that processor.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "arm64")
  set(ENGINEHOST_HOMEBREW /opt/homebrew)
else()
  set(ENGINEHOST_HOMEBREW /usr/local)
endif()

# enginehost_stub(TARGET FILE INSTALL_NAME): makes the imported library TARGET with the names of Debian's FILE.
function(enginehost_stub target file install_name)
  if(TARGET ${target})
    return()
  endif()
  execute_process(COMMAND nm --dynamic --defined-only --format=just-symbols "${debian_library}/${file}"
    OUTPUT_VARIABLE names RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${debian_library}/${file} cannot be read: see scripts/install-dependencies.sh")
  endif()
  string(REGEX REPLACE "@[^\n]*" "" names "${names}")
  string(REGEX MATCHALL "[A-Za-z][A-Za-z0-9_]*" names "${names}")
  list(REMOVE_DUPLICATES names)
  list(TRANSFORM names PREPEND "_")
  list(JOIN names ", " names)
  get_filename_component(stub "${file}" NAME_WE)
  file(CONFIGURE OUTPUT "${ENGINEHOST_STUBS}/${stub}.tbd" @ONLY CONTENT "--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: '${install_name}'
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ ${names} ]
...
")
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${ENGINEHOST_STUBS}/${stub}.tbd"
    INTERFACE_INCLUDE_DIRECTORIES "${ENGINEHOST_STUBS}/include")
endfunction()
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/macos-stubs")

# enginehost_tbd(FILE INSTALL_NAME SOURCE...) makes the stub FILE with the names that libraries for macOS define.
function(enginehost_tbd file install_name)
  if(NOT EXISTS "${file}")
    execute_process(COMMAND "${PROJECT_SOURCE_DIR}/cmake/macos-stubs/make_tbd.sh" "${install_name}" "${file}" ${ARGN}
      RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${file} could not be made, for the reason above; scripts/install-dependencies.sh --tests installs LLVM 14")
    endif()
  endif()
endfunction()

# enginehost_libcxx_stub(TARGET) links TARGET with macOS's libc++.1.dylib instead of zig's libc++ (scripts/zig-root.sh), because
# C++ objects that a plugin and the libraries of its runtime give to each other must be of one libc++. The stub has the names of
# zig's libc++, which is LLVM's, as Apple's is. Of these, the headers use for macOS 11 only those that its libc++ has.
function(enginehost_libcxx_stub target)
  get_filename_component(made "${CMAKE_CXX_COMPILER}" DIRECTORY)
  set(made "${made}/../${CMAKE_SYSTEM_PROCESSOR}")
  enginehost_tbd("${ENGINEHOST_STUBS}/libc++.tbd" /usr/lib/libc++.1.dylib "${made}/libc++.a" "${made}/libc++abi.a")
  target_link_libraries(${target} PRIVATE "${ENGINEHOST_STUBS}/libc++.tbd")
  # zig's headers otherwise use what zig's own libc++ has: checks of a debug build, and what macOS 11 lacks.
  target_compile_options(${target} PRIVATE -U_LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS
    -U_LIBCPP_HARDENING_MODE -D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE)
endfunction()
