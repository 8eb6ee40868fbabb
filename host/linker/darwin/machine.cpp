#include "host/linker/machine.hpp"

#include <unistd.h>

#include "base/environment.hpp"
#include "base/paths.hpp"

namespace enginehost::linker {

// dyld has this variable of glibc under its own name.
const std::optional<std::string>& library_path_at_start() {
  static const auto& text = *new std::optional<std::string>(environment_variable("DYLD_LIBRARY_PATH"));
  return text;
}

// A Linux machine that a Linux build would be judged for: a Mac has no folders, cache or C library of Linux.
// What dyld would do on this Mac is judged by describe_this_mac().
Machine describe_this_machine() {
  Machine machine;
#if defined(__aarch64__)
  machine.architecture = "aarch64";
#else
  machine.architecture = "x86_64";
#endif
  machine.page_size = static_cast<std::uint64_t>(::getpagesize());
  machine.library_path_source = "DYLD_LIBRARY_PATH";
  machine.cache_file.clear();
  std::error_code error;
  machine.current_directory = std::filesystem::current_path(error);
  return machine;
}

}  // namespace enginehost::linker
