// engine.tensor/1: memory on every device, and copies in both directions.
#include <cstring>

#include "tools/conformance/checks.hpp"

namespace engineplugin {
namespace {

std::string round_trip(const engine_tensor_v1& table, engine_instance* engine, engine_device device) {
  const HostTensor from({2, 3}, {1, 2, 3, 4, 5, 6}, 12);
  const HostTensor to({2, 3}, {0, 0, 0, 0, 0, 0});
  engine_tensor like = from.tensor;
  like.data = nullptr;
  like.byte_offset = 0;
  like.device = device;
  engine_owned_tensor* made = nullptr;
  CheckCall create, there, back;
  engine_status status = table.create(engine, &like, &made, create.get());
  if (status != ENGINE_OK || !made) return "create() returned " + create.describe(status);
  std::string problem;
  const engine_tensor& tensor = made->tensor;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  if (made->major != ENGINE_DLPACK_MAJOR || !made->release)
    problem = "not a DLPack 1 tensor with release()";
  else if (tensor.device.type != device.type || tensor.device.index != device.index)
    problem = "on another device";
  else if (tensor.ndim != 2 || !tensor.shape || tensor.shape[0] != 2 || tensor.shape[1] != 3)
    problem = "of another shape";
  else if (std::memcmp(&tensor.dtype, &like.dtype, sizeof like.dtype) != 0)
    problem = "of another type";
  else if (tensor.strides)
    problem = "it has strides";
  else if (tensor.shape == like.shape)
    problem = "its shape is borrowed from the caller";
  else if (device.type == ENGINE_CPU && address % 64 != 0)
    problem = "host memory is not aligned to 64";
  if (problem.empty() && (status = table.copy(engine, &from.tensor, &tensor, there.get())) != ENGINE_OK) {
    problem = "copy() there returned " + there.describe(status);
  }
  if (problem.empty() && (status = table.copy(engine, &tensor, &to.tensor, back.get())) != ENGINE_OK) {
    problem = "copy() back returned " + back.describe(status);
  }
  if (problem.empty() && std::memcmp(from.values(), to.values(), 6 * sizeof(float)) != 0) {
    problem = "what came back differs";
  }
  if (made->release) made->release(made);
  return problem;
}

}  // namespace

void check_tensors(Report& report, const Instance& instance) {
  const auto* table = instance.table<engine_tensor_v1>(ENGINE_TENSOR_V1);
  if (!table) {
    report.begin("tensor");
    report.end(true, "engine.tensor/1 is not offered");
    return;
  }
  for (const engine_device_info& device : devices_of(instance)) {
    report.begin(std::string("tensor.") + device.kind + ":" + std::to_string(device.device.index));
    report.end(round_trip(*table, instance.get(), device.device), "made, filled, read back, released");
  }
  report.begin("tensor.no_such_device");
  const HostTensor some({4}, {1, 2, 3, 4});
  engine_tensor like = some.tensor;
  like.device = {ENGINE_OTHER_DEVICE, 99};
  engine_owned_tensor* made = nullptr;
  CheckCall elsewhere;
  engine_status status = table->create(instance.get(), &like, &made, elsewhere.get());
  std::string problem = elsewhere.problem_unless_failed(status, {});
  if (problem.empty() && made) problem = "it failed and left something in *out";
  report.end(problem, "a device it does not have fails with a message");

  report.begin("tensor.shapes_differ");
  const HostTensor longer({5}, {0, 0, 0, 0, 0});
  CheckCall mismatch;
  status = table->copy(instance.get(), &some.tensor, &longer.tensor, mismatch.get());
  report.end(mismatch.problem_unless_failed(status, {ENGINE_INVALID, ENGINE_UNSUPPORTED}),
             "refused with a message");
}

}  // namespace engineplugin
