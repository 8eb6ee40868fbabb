#include <algorithm>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "host/linker/static_tls.hpp"

namespace enginehost::linker {

const std::string& loader_tunables_at_start() {
  // What setenv() did since is not seen by the loader.
  static const auto& text = *new std::string([] {
    constexpr std::string_view name = "GLIBC_TUNABLES=";
    const Result<std::string> bytes = read_file("/proc/self/environ");
    if (!bytes) return environment_variable("GLIBC_TUNABLES").value_or("");
    for (std::string_view rest = *bytes; !rest.empty();) {
      const std::string_view variable = rest.substr(0, rest.find('\0'));
      if (variable.starts_with(name)) return std::string(variable.substr(name.size()));
      rest.remove_prefix(std::min(rest.size(), variable.size() + 1));
    }
    return std::string();
  }());
  return text;
}

}  // namespace enginehost::linker
