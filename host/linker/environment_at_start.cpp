#include <algorithm>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "host/linker/static_tls.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {

std::optional<std::string> variable_at_start(std::string_view name) {
  const Result<std::string> bytes = read_file("/proc/self/environ");
  if (!bytes) return environment_variable(std::string(name).c_str());
  for (std::string_view rest = *bytes; !rest.empty();) {
    const std::string_view variable = rest.substr(0, rest.find('\0'));
    if (variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=')
      return std::string(variable.substr(name.size() + 1));
    rest.remove_prefix(std::min(rest.size(), variable.size() + 1));
  }
  return std::nullopt;
}

const std::string& loader_tunables_at_start() {
  static const auto& text = *new std::string(variable_at_start("GLIBC_TUNABLES").value_or(""));
  return text;
}

}  // namespace enginehost::linker
