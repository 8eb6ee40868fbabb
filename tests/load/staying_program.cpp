// Opens the named library, leaves it loaded, and ends: a leak checker must report nothing.
#include <cstdio>

#include "host/load/in_process/open_library.hpp"

namespace {

// Separate from main(), so that no pointer to it is left on the stack, which is searched.
[[gnu::noinline]] bool stays(const char* file) {
  auto opened = enginehost::load::OpenLibrary::at(file);
  if (!opened) return false;
  opened->stay();
  return true;
}

[[gnu::noinline]] int overwrite_stack() {
  volatile char bytes[16384];
  for (volatile char& byte : bytes) byte = 0;
  return bytes[0];
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 0; i < 3; ++i)
    if (count != 2 || !stays(arguments[1])) {
      std::puts("the library could not be opened");
      return 1;
    }
  return overwrite_stack();
}
