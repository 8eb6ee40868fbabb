// engine.op/1: one operation by its ONNX name.
#include "engines/reference/instance.hpp"
#include "engines/reference/operation.hpp"

namespace enginehost::engines::reference {
namespace {

struct ResultDestination : Destination {
  engine_results* results;
  engine_owned_tensor* owned;
};

float* reserve_result(Destination* self, int32_t ndim, const int64_t* shape) {
  auto* destination = static_cast<ResultDestination*>(self);
  engine_tensor like = {nullptr, {ENGINE_CPU, 0}, ndim, {ENGINE_FLOAT, 32, 1}, shape, nullptr, 0};
  const engine_tensor* placed = destination->results->place(destination->results, 0, nullptr, &like);
  if (placed != nullptr) return data_of<float>(*placed);
  destination->owned = make_host_tensor(like.dtype, ndim, shape);
  return destination->owned == nullptr ? nullptr : data_of<float>(destination->owned->tensor);
}

engine_status run_operation(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t input_count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) noexcept {
  const Operation* operation = find_operation(name);
  if (operation == nullptr) return unknown_operation(name, call);
  if (engine_status status = check_inputs(*operation, inputs, input_count, call)) return status;
  if (call->is_cancelled(call) != 0) {
    return refuse(call, ENGINE_CANCELLED, "reference",
                  Text{} << "The operation was stopped before it began.");
  }
  ResultDestination destination;
  destination.reserve = reserve_result;
  destination.results = results;
  destination.owned = nullptr;
  engine_status status = operation->run({*engine->kernels,
                                         operation->name,
                                         inputs,
                                         input_count,
                                         {attributes, attribute_count},
                                         destination,
                                         call});
  if (destination.owned == nullptr) return status;
  if (status == ENGINE_OK) {
    results->give(results, 0, nullptr, destination.owned);
  } else {
    destination.owned->release(destination.owned);
  }
  return status;
}

}  // namespace

extern const engine_op_v1 operation_table = {run_operation};

}  // namespace enginehost::engines::reference
