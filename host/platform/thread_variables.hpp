// The variables of a process that decide how many threads an engine starts. Inline, because the probe links
// history without this module's library.
#pragma once
#include <initializer_list>
#include <string_view>

namespace enginehost::platform {

// Returns true for OMP_*, MKL_* and the like. They are reported in `loader_environment` and change no
// decision.
constexpr bool is_thread_variable(std::string_view name) {
  for (const std::string_view prefix : {"OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

}  // namespace enginehost::platform
