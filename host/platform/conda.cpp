#include <cstdlib>

#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Conda> detect_conda() {
  const char* prefix = std::getenv("CONDA_PREFIX");
  if (prefix == nullptr || *prefix == '\0') return Fact<Conda>::absent("CONDA_PREFIX");
  const char* name = std::getenv("CONDA_DEFAULT_ENV");
  return Fact<Conda>::known({prefix, name != nullptr ? name : ""}, "CONDA_PREFIX");
}

}  // namespace enginehost::platform
