#include "host/platform/parts.hpp"
#include "host/platform/windows/registry.hpp"

namespace enginehost::platform {

// What Windows' own programs look at to know that they run in a container (1: with a system of its own, 2: in
// a small virtual machine; both are "docker" to a person, or another that starts them).
Fact<std::string> detect_container(const Root& root) {
  const std::string key = "SYSTEM\\CurrentControlSet\\Control", name = "ContainerType";
  if (root.is_this_machine() && registry::number(key, name))
    return Fact<std::string>::known("windows container", "registry: " + key + ", " + name);
  return Fact<std::string>::absent("registry: " + key + ", " + name);
}

}  // namespace enginehost::platform
