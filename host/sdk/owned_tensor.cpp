#include "host/sdk/owned_tensor.hpp"

#include <utility>

namespace enginehost::sdk {
namespace {

struct OwnedTensor {
  engine_owned_tensor tensor{};
  std::unique_ptr<load::Output> output;
};

}  // namespace

engine_owned_tensor* own_tensor(std::unique_ptr<load::Output> output) {
  if (engine_owned_tensor* given = output->take()) return given;
  auto carried = std::make_unique<OwnedTensor>();
  carried->output = std::move(output);
  engine_owned_tensor& tensor = carried->tensor;
  tensor.major = 1;
  tensor.owner = carried.get();
  tensor.release = [](engine_owned_tensor* self) noexcept { delete static_cast<OwnedTensor*>(self->owner); };
  tensor.tensor = carried->output->tensor();
  return &carried.release()->tensor;
}

}  // namespace enginehost::sdk
