#include <sys/utsname.h>

#include "host/platform/darwin/kernel_values.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

constexpr const char* version_file = "/System/Library/CoreServices/SystemVersion.plist";

// "<key>ProductVersion</key>\n\t<string>14.5</string>"
std::string value_in(const std::string& list, const std::string& name) {
  std::size_t at = list.find("<key>" + name + "</key>");
  if (at == std::string::npos) return {};
  constexpr std::string_view begin = "<string>";
  at = list.find(begin, at);
  if (at == std::string::npos) return {};
  at += begin.size();
  const std::size_t end = list.find("</string>", at);
  return end == std::string::npos ? std::string() : list.substr(at, end - at);
}

}  // namespace

Fact<std::string> detect_os() { return Fact<std::string>::known("macos", "this program"); }

// The process's architecture: under Rosetta it is x86_64, and libraries must match it.
Fact<std::string> detect_arch() {
#if defined(__aarch64__)
  return Fact<std::string>::known("arm64", "this program");
#else
  return Fact<std::string>::known("x86_64", "this program");
#endif
}

Fact<std::string> detect_kernel(const Root& root) {
  if (!root.is_this_machine())
    return Fact<std::string>::unknown("the kernel of another root cannot be asked");
  utsname names{};
  if (::uname(&names) != 0) return Fact<std::string>::unknown("uname failed");
  return Fact<std::string>::known(names.release, "uname");
}

// Asks the kernel first, because the file shows version 10.16 to programs built for older systems.
Fact<Distribution> detect_distribution(const Root& root) {
  std::string version, source = "sysctl kern.osproductversion";
  if (root.is_this_machine()) version = kernel::text("kern.osproductversion");
  if (version.empty()) {
    version = value_in(root.read(version_file).value_or(""), "ProductVersion");
    source = version_file;
  }
  if (version.empty()) return Fact<Distribution>::unknown(std::string(version_file) + " has no version");
  return Fact<Distribution>::known({"macos", "macOS " + version, version}, source);
}

}  // namespace enginehost::platform
