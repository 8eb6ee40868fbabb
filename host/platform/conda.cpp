#include "base/environment.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

Fact<Conda> detect_conda() {
  auto prefix = environment_variable("CONDA_PREFIX");
  if (!prefix || prefix->empty()) return Fact<Conda>::absent("CONDA_PREFIX");
  return Fact<Conda>::known({std::move(*prefix), environment_variable("CONDA_DEFAULT_ENV").value_or("")},
                            "CONDA_PREFIX");
}

}  // namespace enginehost::platform
