#include "host/platform/parts.hpp"
#include "host/platform/windows/registry.hpp"

namespace enginehost::platform {

// Reads the value by which Windows' own programs detect a container. 1: it has its own system; 2: it runs in
// a small virtual machine. Docker and other programs start both kinds.
Fact<std::string> detect_container(const Root& root) {
  const std::string key = "SYSTEM\\CurrentControlSet\\Control", name = "ContainerType";
  if (root.is_this_machine() && registry::number(key, name))
    return Fact<std::string>::known("windows container", "registry: " + key + ", " + name);
  return Fact<std::string>::absent("registry: " + key + ", " + name);
}

}  // namespace enginehost::platform
