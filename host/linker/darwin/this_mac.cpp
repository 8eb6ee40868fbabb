#include "host/linker/this_mac.hpp"

#include <sys/sysctl.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {
namespace {

std::optional<std::vector<std::string>> folders_of(const char* variable) {
  const std::optional<std::string> text = environment_variable(variable);
  if (!text) return std::nullopt;
  return split(*text, ':');
}

std::string reported_by_kernel(const char* name) {
  char text[64] = {};
  std::size_t size = sizeof text - 1;
  return ::sysctlbyname(name, text, &size, nullptr, 0) == 0 ? text : std::string();
}

}  // namespace

AppleMachine describe_this_mac() {
  AppleMachine mac;
#if defined(__aarch64__)
  mac.architecture = "aarch64";
#else
  mac.architecture = "x86_64";
#endif
  int translated = 0;
  std::size_t size = sizeof translated;
  mac.rosetta =
      ::sysctlbyname("sysctl.proc_translated", &translated, &size, nullptr, 0) == 0 && translated == 1;
  mac.os_version = reported_by_kernel("kern.osproductversion");
  mac.program = executable_path();
  std::error_code error;
  mac.current_directory = path_text(std::filesystem::current_path(error));
  mac.hardened = ::issetugid() != 0;
  mac.library_path = folders_of("DYLD_LIBRARY_PATH");
  mac.framework_path = folders_of("DYLD_FRAMEWORK_PATH");
  mac.fallback_library_path = folders_of("DYLD_FALLBACK_LIBRARY_PATH");
  mac.fallback_framework_path = folders_of("DYLD_FALLBACK_FRAMEWORK_PATH");
  mac.loaded = loaded_libraries();
  return mac;
}

}  // namespace enginehost::linker
