#include <algorithm>

#include "host/platform/parts.hpp"
#include "host/platform/variables.hpp"

namespace enginehost::platform {

bool is_loader_variable(std::string_view name) {
  static constexpr std::string_view prefixes[] = {"LD_",  "CUDA_", "NVIDIA_", "NCCL_",
                                                  "HIP_", "ROCR_", "HSA_"};
  static constexpr std::string_view names[] = {"CONDA_PREFIX", "GLIBC_TUNABLES", "PYTORCH_CUDA_ALLOC_CONF"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Fact<Variables> detect_loader_environment() {
  Variables found;
  for (auto& variable : process_variables())
    if (is_loader_variable(variable.first)) found.push_back(std::move(variable));
  if (found.empty()) return Fact<Variables>::absent("environment");
  std::sort(found.begin(), found.end());
  // A name can occur twice in a process's environment; getenv returns the first.
  found.erase(std::unique(found.begin(), found.end(),
                          [](const auto& left, const auto& right) { return left.first == right.first; }),
              found.end());
  return Fact<Variables>::known(std::move(found), "environment");
}

}  // namespace enginehost::platform
