#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// WSL 2 runs Microsoft's build of a real kernel ("5.15.153.1-microsoft-standard-WSL2"). WSL 1 only translates
// system calls and reports "4.4.0-19041-Microsoft". A container on WSL 2 has the same kernel and the same
// GPU.
Fact<std::string> detect_wsl(const Fact<std::string>& kernel) {
  if (!kernel.is_known()) return Fact<std::string>::unknown("the kernel's release is not known");
  if (to_lower(kernel.value()).find("microsoft") == std::string::npos)
    return Fact<std::string>::absent("kernel release " + kernel.value());
  const bool first = kernel.value().find("-Microsoft") != std::string::npos;
  return Fact<std::string>::known(first ? "1" : "2", "kernel release " + kernel.value());
}

}  // namespace enginehost::platform
