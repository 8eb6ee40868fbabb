// The processor that the tests are compiled for, as Debian, glibc and ELF name it, and another one.
#pragma once
#include <string>

namespace enginehost::test {

#if defined(__aarch64__)
inline constexpr const char* architecture = "aarch64";
inline constexpr const char* multiarch = "aarch64-linux-gnu";
inline constexpr const char* glibc_loader = "/lib/ld-linux-aarch64.so.1";
inline constexpr const char* other_architecture = "x86_64";
inline constexpr char other_machine = '\x3e';  // EM_X86_64
#else
inline constexpr const char* architecture = "x86_64";
inline constexpr const char* multiarch = "x86_64-linux-gnu";
inline constexpr const char* glibc_loader = "/lib64/ld-linux-x86-64.so.2";
inline constexpr const char* other_architecture = "aarch64";
inline constexpr char other_machine = '\xb7';  // EM_AARCH64
#endif

// The folder of Debian and Ubuntu for libraries of that processor.
inline const std::string library_folder = std::string("/usr/lib/") + multiarch + "/";

}  // namespace enginehost::test
