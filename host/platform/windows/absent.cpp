#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Libc> detect_libc(const Root&) { return Fact<Libc>::absent("not Linux"); }

Fact<Libstdcxx> detect_libstdcxx(const Root&, const LibrarySearch&) {
  return Fact<Libstdcxx>::absent("not Linux");
}

Fact<Metal> detect_metal() { return Fact<Metal>::absent("not macOS"); }

// Windows itself does not run in WSL, and a program inside WSL is a Linux program.
Fact<std::string> detect_wsl(const Fact<std::string>&) { return Fact<std::string>::absent("not Linux"); }

}  // namespace enginehost::platform
