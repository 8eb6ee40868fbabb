#include "base/posix/environment.hpp"
#include "host/platform/variables.hpp"

namespace enginehost::platform {

Variables process_variables() {
  Variables variables;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace enginehost::platform
