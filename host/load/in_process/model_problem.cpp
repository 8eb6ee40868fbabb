#include "host/load/in_process/model_problem.hpp"

#include <cstddef>

#include "host/load/in_process/reported_text.hpp"
#include "host/load/in_process/results.hpp"

namespace enginehost::load {
namespace {

std::string problem_of_ports(const engine_port* ports, std::size_t count, const std::string& kind) {
  if (count > 0 && ports == nullptr) return "no list of the model's " + kind + "s";
  for (std::size_t i = 0; i < count; ++i) {
    const engine_port& port = ports[i];
    if (port.name == nullptr) return "no name of the model's " + kind + " " + std::to_string(i);
    // -1 means any rank.
    if (port.ndim < -1 || port.ndim > highest_rank)
      return "the rank " + std::to_string(port.ndim) + " for the model's " + kind + " " +
             reported_text(port.name);
    if (port.ndim > 0 && port.shape == nullptr)
      return "no shape of the model's " + kind + " " + reported_text(port.name) + ", whose rank is " +
             std::to_string(port.ndim);
  }
  return {};
}

}  // namespace

std::string problem_of(const engine_model_info* info) {
  if (info == nullptr) return "no description of the model";
  if (info->functions == nullptr || info->function_count == 0) return "no function of the model";
  for (std::size_t i = 0; i < info->function_count; ++i) {
    const engine_function& function = info->functions[i];
    std::string problem = problem_of_ports(function.inputs, function.input_count, "input");
    if (problem.empty()) problem = problem_of_ports(function.outputs, function.output_count, "output");
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace enginehost::load
