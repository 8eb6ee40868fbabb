// engine.op/1: the four required operations on every device, and the requests that must be refused.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "tools/conformance/checks.hpp"

namespace engineplugin {
namespace {

using Inputs = std::vector<const engine_tensor*>;
using Clock = std::chrono::steady_clock;

struct OwnedRelease {
  void operator()(engine_owned_tensor* tensor) const { tensor->release(tensor); }
};
using Owned = std::unique_ptr<engine_owned_tensor, OwnedRelease>;

struct Engine {
  const engine_op_v1& operations;
  const engine_tensor_v1* tensors;  // may be NULL
  engine_instance* instance;
};

// Returns `host` as a tensor on `device`: itself, or a copy kept alive in `keep`. nullptr and `problem` if
// that fails.
const engine_tensor* on_device(const Engine& engine, const engine_tensor& host, engine_device device,
                               std::vector<Owned>& keep, std::string& problem) {
  if (device.type == ENGINE_CPU) return &host;
  if (!engine.tensors) {
    problem = "operations on a device need engine.tensor/1 to bring data there";
    return nullptr;
  }
  engine_tensor like = host;
  like.data = nullptr;
  like.byte_offset = 0;
  like.device = device;
  engine_owned_tensor* made = nullptr;
  CheckCall create, copy;
  engine_status status = engine.tensors->create(engine.instance, &like, &made, create.get());
  if (status != ENGINE_OK) {
    problem = "tensor create() returned " + create.describe(status);
    return nullptr;
  }
  keep.emplace_back(made);
  status = engine.tensors->copy(engine.instance, &host, &made->tensor, copy.get());
  if (status != ENGINE_OK) problem = "tensor copy() returned " + copy.describe(status);
  return status == ENGINE_OK ? &made->tensor : nullptr;
}

// Compares the one value of `results` with the expected one; "" if they agree.
std::string answer_problem(const Engine& engine, const CheckResults& results,
                           const std::vector<std::int64_t>& shape, const std::vector<float>& due,
                           engine_device device) {
  if (!results.problem().empty()) return results.problem();
  if (results.values().size() != 1)
    return std::to_string(results.values().size()) + " values were given, expected was one";
  const CheckResults::Value& value = *results.values().front();
  const engine_tensor& tensor = value.tensor;
  if (value.output != 0) return "it was given as output " + std::to_string(value.output);
  if (tensor.device.type != device.type || tensor.device.index != device.index)
    return "it is on another device";
  if (tensor.dtype.code != ENGINE_FLOAT || tensor.dtype.bits != 32) return "it is not float32";
  if (tensor.ndim != static_cast<std::int32_t>(shape.size()) ||
      !std::equal(shape.begin(), shape.end(), tensor.shape)) {
    return "its shape is wrong";
  }
  if (due.empty()) return "";
  const HostTensor copied(shape, std::vector<float>(due.size()));
  const float* got = copied.values();
  if (device.type == ENGINE_CPU) {
    got = reinterpret_cast<const float*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
  } else {
    CheckCall call;
    const engine_status status = engine.tensors->copy(engine.instance, &tensor, &copied.tensor, call.get());
    if (status != ENGINE_OK) return "reading it back: " + call.describe(status);
  }
  for (std::size_t i = 0; i < due.size(); i++) {
    if (!(std::fabs(got[i] - due[i]) <= 1e-4F * std::max(1.0F, std::fabs(due[i])))) {
      return "element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected was " +
             std::to_string(due[i]);
    }
  }
  return "";
}

struct Case {
  const char* title;
  const char* operation;
  std::vector<const HostTensor*> inputs;
  std::vector<std::int64_t> shape;
  std::vector<float> due;
};

std::string case_problem(const Engine& engine, const Case& one, engine_device device, bool offer) {
  std::vector<Owned> keep;
  Inputs inputs;
  std::string problem;
  for (const HostTensor* input : one.inputs) {
    const engine_tensor* tensor = on_device(engine, input->tensor, device, keep, problem);
    if (!tensor) return problem;
    inputs.push_back(tensor);
  }
  CheckResults results(offer);
  CheckCall call;
  const engine_status status = engine.operations.run(engine.instance, one.operation, inputs.data(),
                                                     inputs.size(), nullptr, 0, results.get(), call.get());
  if (status != ENGINE_OK) return std::string(one.title) + ": " + call.describe(status);
  problem = answer_problem(engine, results, one.shape, one.due, device);
  return problem.empty() ? "" : std::string(one.title) + (offer ? ", placed: " : ", given: ") + problem;
}

void check_answers(Report& report, const Engine& engine, const engine_device_info& device) {
  const HostTensor a({2, 3}, {1, -2, 3, -4, 5, -6}), b({2, 3}, {10, 20, 30, 40, 50, 60});
  const HostTensor tall({3, 2}, {1, 2, 3, 4, 5, 6}), shifted({2, 3}, {1, 1, 1, 1, 1, 1}, 12);
  const HostTensor scalar({}, {2.5F}), none({0, 3}, {});
  const std::vector<Case> cases = {
      {"of matrices", "Add", {&a, &b}, {2, 3}, {11, 18, 33, 36, 55, 54}},
      {"with a byte_offset", "Add", {&a, &shifted}, {2, 3}, {2, -1, 4, -3, 6, -5}},
      {"of scalars", "Add", {&scalar, &scalar}, {}, {5}},
      {"without elements", "Add", {&none, &none}, {0, 3}, {}},
      {"of matrices", "Mul", {&a, &b}, {2, 3}, {10, -40, 90, -160, 250, -360}},
      {"2x3 by 3x2", "MatMul", {&a, &tall}, {2, 2}, {10, 12, -19, -24}},
      {"of a matrix", "Relu", {&a}, {2, 3}, {1, 0, 3, 0, 5, 0}},
  };
  for (const char* operation : {"Add", "Mul", "MatMul", "Relu"}) {
    report.begin(std::string("op.") + operation + "." + device.kind + ":" +
                 std::to_string(device.device.index));
    std::string problem;
    for (const Case& one : cases) {
      if (std::strcmp(one.operation, operation) != 0) continue;
      for (const bool offer : {false, true}) {
        if (problem.empty()) problem = case_problem(engine, one, device.device, offer);
      }
    }
    report.end(problem, "right, given and placed");
  }
}

// Runs a request that must be refused, with a message and without results.
std::string refusal_problem(const Engine& engine, const char* operation, const Inputs& inputs,
                            const std::vector<engine_status>& allowed) {
  CheckResults results(false);
  CheckCall call;
  const engine_status status = engine.operations.run(engine.instance, operation, inputs.data(), inputs.size(),
                                                     nullptr, 0, results.get(), call.get());
  return call.problem_unless_failed(status, allowed);
}

void check_refusals(Report& report, const Engine& engine) {
  const HostTensor a({2, 3}, {1, 2, 3, 4, 5, 6});
  report.begin("op.unknown_name");
  report.end(refusal_problem(engine, "NoSuchOperation", {&a.tensor, &a.tensor}, {ENGINE_UNSUPPORTED}),
             "UNSUPPORTED with a message");
  report.begin("op.unknown_type");
  engine_tensor odd = a.tensor;
  odd.dtype.code = 99;
  report.end(refusal_problem(engine, "Add", {&odd, &odd}, {ENGINE_UNSUPPORTED, ENGINE_INVALID}),
             "refused with a message");
  report.begin("op.input_count");
  report.end(refusal_problem(engine, "Add", {&a.tensor}, {ENGINE_INVALID, ENGINE_UNSUPPORTED}),
             "one input to Add is refused");
  report.begin("op.shapes");
  report.end(refusal_problem(engine, "MatMul", {&a.tensor, &a.tensor}, {ENGINE_INVALID}),
             "2x3 by 2x3 is INVALID");
  report.begin("op.device");
  engine_tensor far = a.tensor;
  far.device = {ENGINE_OTHER_DEVICE, 99};
  report.end(refusal_problem(engine, "Add", {&a.tensor, &far}, {ENGINE_INVALID}),
             "inputs on two devices are INVALID");
}

// Runs a call that is canceled before it begins, or whose time ends in the middle. It must soon be done or
// CANCELLED, and the engine must work as before.
std::string interruption_problem(const Engine& engine, const std::function<void(CheckCall&)>& interrupt) {
  const HostTensor big({400, 400}, std::vector<float>(400 * 400, 1));
  const Inputs inputs = {&big.tensor, &big.tensor};
  CheckResults results(false);
  CheckCall call;
  interrupt(call);
  const auto begin = Clock::now();
  const engine_status status = engine.operations.run(engine.instance, "MatMul", inputs.data(), inputs.size(),
                                                     nullptr, 0, results.get(), call.get());
  if (Clock::now() - begin > std::chrono::seconds(5)) return "it went on for more than 5 s";
  if (status != ENGINE_OK) {
    const std::string problem = call.problem_unless_failed(status, {ENGINE_CANCELLED});
    if (!problem.empty()) return problem;
  }
  if (!call.tail_untouched()) return "bytes behind the engine_call are written";
  const HostTensor a({1}, {1});
  return case_problem(engine, {"Add afterwards", "Add", {&a, &a}, {1}, {2}}, {ENGINE_CPU, 0}, false);
}

}  // namespace

void check_operations(Report& report, const Instance& instance) {
  const auto* table = instance.table<engine_op_v1>(ENGINE_OP_V1);
  if (!table) {
    report.begin("op");
    report.end(true, "engine.op/1 is not offered");
    return;
  }
  const Engine engine{*table, instance.table<engine_tensor_v1>(ENGINE_TENSOR_V1), instance.get()};
  bool has_cpu = false;
  for (const engine_device_info& device : devices_of(instance)) {
    check_answers(report, engine, device);
    has_cpu = has_cpu || device.device.type == ENGINE_CPU;
  }
  check_refusals(report, engine);
  if (!has_cpu) return;
  report.begin("op.cancelled");
  report.end(interruption_problem(engine, [](CheckCall& call) { call.cancel(); }),
             "done or CANCELLED, and usable after");
  report.begin("op.timed_out");
  report.end(
      interruption_problem(engine, [](CheckCall& call) { call.give_up_after(std::chrono::milliseconds(1)); }),
      "done or CANCELLED, and usable after");
}

}  // namespace engineplugin
