// Not linked for RHEL 8: what check_floor.py must find.
#include <dlfcn.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

extern "C" int symbol_that_no_library_has();

extern "C" int uses_newer_symbols(const char* path, std::vector<int>* numbers) {
  struct stat info;
  numbers->push_back(stat(path, &info));                                     // glibc 2.33
  numbers->push_back(dlopen(path, RTLD_NOW) != nullptr);                     // in libc.so.6 since 2.34
  numbers->push_back(std::filesystem::exists(std::filesystem::path(path)));  // GCC 9
  return symbol_that_no_library_has();
}
