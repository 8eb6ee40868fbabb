#include "base/environment.hpp"

#include <cstdlib>

namespace enginehost {

std::optional<std::string> environment_variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
}

}  // namespace enginehost
