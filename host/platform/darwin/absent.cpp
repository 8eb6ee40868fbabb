#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Libc> detect_libc(const Root&) { return Fact<Libc>::absent("not Linux"); }

Fact<Libstdcxx> detect_libstdcxx(const Root&, const LibrarySearch&) {
  return Fact<Libstdcxx>::absent("not Linux");
}

Fact<std::string> detect_vcruntime(const Root&) { return Fact<std::string>::absent("not Windows"); }

Fact<std::string> detect_wsl(const Fact<std::string>&) { return Fact<std::string>::absent("not Linux"); }

// Containers on a Mac are Linux programs in a virtual machine.
Fact<std::string> detect_container(const Root&) { return Fact<std::string>::absent("not Linux"); }

Fact<std::string> detect_other_gpus(const Root&, const Fact<std::string>&) {
  return Fact<std::string>::absent("macOS reports its GPU as a Metal device");
}

Fact<Rocm> detect_rocm(const Root&) { return Fact<Rocm>::absent("not Linux"); }

}  // namespace enginehost::platform
