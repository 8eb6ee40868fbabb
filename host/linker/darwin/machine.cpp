#include "host/linker/machine.hpp"

#include <unistd.h>

#include "base/environment.hpp"
#include "base/paths.hpp"

namespace enginehost::linker {

// dyld has its own variable for this.
const std::optional<std::string>& library_path_at_start() {
  static const auto& text = *new std::optional<std::string>(environment_variable("DYLD_LIBRARY_PATH"));
  return text;
}

// Describes a Linux machine for judging a Linux build, because a Mac has no folders, cache or C library of
// Linux. describe_this_mac() describes this Mac for dyld.
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
