#include "host/sdk/carried.hpp"

#include <utility>

namespace enginehost::sdk {
namespace {

struct Carried {
  engine_owned_tensor tensor{};
  std::unique_ptr<load::Output> output;
};

}  // namespace

engine_owned_tensor* carry(std::unique_ptr<load::Output> output) {
  if (engine_owned_tensor* given = output->take()) return given;
  auto carried = std::make_unique<Carried>();
  carried->output = std::move(output);
  engine_owned_tensor& tensor = carried->tensor;
  tensor.major = 1;
  tensor.owner = carried.get();
  tensor.release = [](engine_owned_tensor* self) noexcept { delete static_cast<Carried*>(self->owner); };
  tensor.tensor = carried->output->tensor();
  return &carried.release()->tensor;
}

}  // namespace enginehost::sdk
