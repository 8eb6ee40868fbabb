#include "engines/pytorch/results.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/cuda.h>

#include "engines/pytorch/tensors.hpp"

namespace enginehost::engines::pytorch {
namespace {

bool begins_in(const at::Tensor& tensor, const at::Tensor& other) {
  if (tensor.device() != other.device() || other.numel() == 0 || tensor.numel() == 0) return false;
  auto* at = static_cast<const char*>(tensor.data_ptr());
  auto* begin = static_cast<const char*>(other.data_ptr());
  return at >= begin && at < begin + other.nbytes();
}

std::string joined(const std::string& name, const std::string& part) {
  return name.empty() ? part : name + "." + part;
}

}  // namespace

void ResultWriter::give(uint32_t output, const std::string& name, at::Tensor value) {
  bool shared = !value.has_storage() || value.use_count() > 1 || value.storage().use_count() > 1;
  for (const at::Tensor& input : inputs_) shared = shared || begins_in(value, input);
  at::Tensor own = device_.has_value() ? value.to(*device_) : value;
  // conj() and imag() may only mark a tensor as conjugated or negated while its memory keeps the old values.
  own = own.resolve_conj().resolve_neg();
  // These calls, to() and contiguous() return the same memory when nothing has to change.
  if (!own.is_contiguous()) own = own.contiguous();
  if (shared && own.has_storage() && value.has_storage() && own.storage().data() == value.storage().data())
    own = own.clone();
  if (own.is_cuda()) torch::cuda::synchronize(own.device().index());
  value.reset();
  engine_owned_tensor* wrapped =
      wrap(std::move(own), name.empty() ? "output " + std::to_string(output) : name);
  results_->give(results_, output, name.empty() ? nullptr : name.c_str(), wrapped);
}

void ResultWriter::give(uint32_t output, const std::string& name, c10::IValue value) {
  if (value.isTensor()) {
    at::Tensor tensor = std::move(value).toTensor();
    return give(output, name, std::move(tensor));
  }
  if (value.isNone()) return;  // an optional value that is missing
  if (value.isInt()) return give(output, name, at::scalar_tensor(value.toInt(), at::kLong));
  if (value.isDouble()) return give(output, name, at::scalar_tensor(value.toDouble(), at::kDouble));
  if (value.isBool()) return give(output, name, at::scalar_tensor(value.toBool(), at::kBool));
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      const c10::IValue& key = entry.key();
      if (!key.isString() && !key.isInt())
        throw Failure{ENGINE_UNSUPPORTED,
                      "A dictionary's keys are text or whole numbers, not " + key.tagKind() + "."};
      give(output, joined(name, key.isString() ? key.toStringRef() : std::to_string(key.toInt())),
           entry.value());
    }
    return;
  }
  if (value.isList() || value.isTuple()) {
    std::vector<c10::IValue> parts;
    if (value.isList()) {
      for (const c10::IValue& part : value.toListRef()) parts.push_back(part);
    } else {
      for (const c10::IValue& part : value.toTupleRef().elements()) parts.push_back(part);
    }
    bool plain = value.isList() && name.empty();  // the order is sufficient
    value = {};                                   // a part that nothing else holds need not be copied
    bool tensors_only = true;
    for (const c10::IValue& part : parts) tensors_only = tensors_only && part.isTensor();
    for (size_t i = 0; i < parts.size(); i++)
      give(output, plain && tensors_only ? "" : joined(name, std::to_string(i)), std::move(parts[i]));
    return;
  }
  throw Failure{ENGINE_UNSUPPORTED, "The model gives a value of the type " + value.tagKind() +
                                        ", which the plugin ABI cannot represent."};
}

}  // namespace enginehost::engines::pytorch
