#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <sys/sysctl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/linker/dyld.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {
namespace {

// Returns the install name from the load commands in memory, which dyld has checked; empty if there is none.
std::string install_name_of(const mach_header* image) {
  if (image == nullptr || image->magic != MH_MAGIC_64) return {};
  const auto* at = reinterpret_cast<const char*>(image) + sizeof(mach_header_64);
  for (std::uint32_t i = 0; i < image->ncmds; ++i) {
    load_command command{};
    std::memcpy(&command, at, sizeof command);
    if (command.cmd == LC_ID_DYLIB) {
      dylib_command id{};
      std::memcpy(&id, at, sizeof id);
      return at + id.dylib.name.offset;
    }
    at += command.cmdsize;
  }
  return {};
}

}  // namespace

// If another thread unloads a library between the calls, a name is missing or duplicate, which is harmless.
std::vector<LoadedLibrary> loaded_libraries() {
  std::vector<LoadedLibrary> found;
  for (std::uint32_t i = 1; i < ::_dyld_image_count(); ++i)  // the first is the program
    if (const char* path = ::_dyld_get_image_name(i); path != nullptr)
      found.push_back({install_name_of(::_dyld_get_image_header(i)), path});
  return found;
}

// Libraries that dyld inserts belong to the Mac (dyld.hpp), not to the machine for judging a Linux build.
std::vector<LoadedLibrary> preloaded_libraries() { return {}; }

std::optional<std::string> quarantine_text(const std::filesystem::path& file) {
  char text[1024];
  const ssize_t size = ::getxattr(file.c_str(), "com.apple.quarantine", text, sizeof text, 0, XATTR_NOFOLLOW);
  if (size < 0) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(size));
}

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
