#include <sys/utsname.h>

#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<std::string> detect_os() { return Fact<std::string>::known("linux", "this program"); }

// The process's architecture rather than the kernel's, because engines are loaded into the process.
Fact<std::string> detect_arch() {
#if defined(__x86_64__)
  return Fact<std::string>::known("x86_64", "this program");
#elif defined(__aarch64__)
  return Fact<std::string>::known("aarch64", "this program");
#else
  utsname names{};
  if (::uname(&names) != 0) return Fact<std::string>::unknown("uname failed");
  return Fact<std::string>::known(names.machine, "uname");
#endif
}

Fact<std::string> detect_kernel(const Root& root) {
  if (!root.is_this_machine()) {
    if (auto release = root.read("/proc/sys/kernel/osrelease"))
      return Fact<std::string>::known(std::move(*release), "/proc/sys/kernel/osrelease");
    return Fact<std::string>::unknown("/proc/sys/kernel/osrelease cannot be read");
  }
  utsname names{};
  if (::uname(&names) != 0) return Fact<std::string>::unknown("uname failed");
  return Fact<std::string>::known(names.release, "uname");
}

// os-release(5): shell assignments with optional quotes; /usr/lib has the file when /etc has none.
Fact<Distribution> detect_distribution(const Root& root) {
  for (const char* file : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = root.read(file);
    if (!text) continue;
    Distribution found;
    for (const std::string& line : split(*text, '\n')) {
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const std::string_view name = trim(std::string_view(line).substr(0, equals));
      std::string_view value = trim(std::string_view(line).substr(equals + 1));
      if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
          value.back() == value.front())
        value = value.substr(1, value.size() - 2);
      if (name == "ID") found.id = value;
      if (name == "PRETTY_NAME") found.name = value;
      if (name == "NAME" && found.name.empty()) found.name = value;
      if (name == "VERSION_ID") found.version = value;
    }
    if (found.id.empty()) found.id = "linux";  // the default of os-release(5)
    return Fact<Distribution>::known(std::move(found), file);
  }
  return Fact<Distribution>::unknown("neither /etc/os-release nor /usr/lib/os-release can be read");
}

}  // namespace enginehost::platform
