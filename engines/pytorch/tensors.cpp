#include "engines/pytorch/tensors.hpp"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/api/include/torch/cuda.h>

#include <memory>

namespace enginehost::engines::pytorch {
namespace {

struct TypePair {
  at::ScalarType torch;
  engine_dtype type;
};
constexpr TypePair types[] = {
    {at::kFloat, {ENGINE_FLOAT, 32, 1}},
    {at::kDouble, {ENGINE_FLOAT, 64, 1}},
    {at::kHalf, {ENGINE_FLOAT, 16, 1}},
    {at::kBFloat16, {ENGINE_BFLOAT, 16, 1}},
    {at::kByte, {ENGINE_UINT, 8, 1}},
    {at::kChar, {ENGINE_INT, 8, 1}},
    {at::kShort, {ENGINE_INT, 16, 1}},
    {at::kInt, {ENGINE_INT, 32, 1}},
    {at::kLong, {ENGINE_INT, 64, 1}},
    {at::kBool, {ENGINE_BOOL, 8, 1}},
    {at::kComplexFloat, {ENGINE_COMPLEX, 64, 1}},
    {at::kComplexDouble, {ENGINE_COMPLEX, 128, 1}},
};

struct Wrapped : engine_owned_tensor {
  at::Tensor held;
};

at::ScalarType to_torch_type(engine_dtype type, const char* name, engine_call* call) {
  for (const TypePair& pair : types) {
    if (same_type(pair.type, type)) return pair.torch;
  }
  Text text;
  text.type(type);
  call->detail(call, "input", name);
  throw Failure{ENGINE_UNSUPPORTED, std::string("\"") + name + "\" is of the type " + text.c_str() +
                                        ", which libtorch does not have."};
}

engine_status create_tensor(engine_instance* engine, const engine_tensor* like, engine_owned_tensor** out,
                            engine_call* call) noexcept {
  *out = nullptr;
  if (in_host_memory(like->device)) return create_host_tensor("", like, out, call);
  return catch_all(call, ENGINE_INVALID, [&] {
    c10::InferenceMode guard;
    Text why;
    if (!check_shape(like->dtype, like->ndim, like->shape, why))
      throw Failure{ENGINE_INVALID, std::string("The tensor ") + why.c_str() + "."};
    at::IntArrayRef sizes(like->shape, static_cast<size_t>(like->ndim));
    *out = wrap(at::empty(sizes, at::TensorOptions()
                                     .dtype(to_torch_type(like->dtype, "tensor", call))
                                     .device(to_torch(like->device, engine->devices, call))),
                "tensor");
  });
}

engine_status copy_tensor(engine_instance* engine, const engine_tensor* from, const engine_tensor* to,
                          engine_call* call) noexcept {
  if (in_host_memory(from->device) && in_host_memory(to->device)) return copy_host_tensor("", from, to, call);
  return catch_all(call, ENGINE_INVALID, [&] {
    c10::InferenceMode guard;
    if (!same_type(from->dtype, to->dtype) || !same_shape(*from, *to)) {
      Text why;
      why << "A copy needs equal types and shapes, not ";
      why.type(from->dtype).shape(from->ndim, from->shape) << " and ";
      throw Failure{ENGINE_INVALID, why.type(to->dtype).shape(to->ndim, to->shape).c_str()};
    }
    at::Tensor target = borrow(*to, "to", engine, call);
    target.copy_(borrow(*from, "from", engine, call));  // waits for the device
    if (target.is_cuda()) torch::cuda::synchronize(target.device().index());
  });
}

}  // namespace

const engine_tensor_v1 tensor_table = {create_tensor, copy_tensor};

at::Tensor borrow(const engine_tensor& tensor, const char* name, engine_instance* engine, engine_call* call) {
  Text why;
  at::ScalarType type = to_torch_type(tensor.dtype, name, call);
  if (!check_tensor(tensor, why)) {
    call->detail(call, "input", name);
    throw Failure{ENGINE_INVALID, std::string("\"") + name + "\" " + why.c_str() + "."};
  }
  at::TensorOptions options =
      at::TensorOptions().dtype(type).device(to_torch(tensor.device, engine->devices, call));
  at::IntArrayRef sizes(tensor.shape, static_cast<size_t>(tensor.ndim));
  if (element_count(tensor.ndim, tensor.shape) == 0) return at::empty(sizes, options);
  return at::from_blob(data_of<void>(tensor), sizes, options);
}

engine_owned_tensor* wrap(at::Tensor tensor, const std::string& name) {
  auto wrapped = std::make_unique<Wrapped>();
  static_cast<engine_owned_tensor&>(*wrapped) = {};
  const TypePair* found = nullptr;
  for (const TypePair& pair : types) {
    if (pair.torch == tensor.scalar_type()) found = &pair;
  }
  if (found == nullptr || tensor.layout() != at::kStrided) {
    throw Failure{ENGINE_UNSUPPORTED, "\"" + name + "\" is a tensor of " + std::string(tensor.toString()) +
                                          ", which the plugin ABI cannot represent."};
  }
  wrapped->held = tensor.contiguous();
  wrapped->major = ENGINE_DLPACK_MAJOR;
  wrapped->minor = ENGINE_DLPACK_MINOR;
  wrapped->release = [](engine_owned_tensor* self) noexcept { delete static_cast<Wrapped*>(self); };
  const at::Tensor& held = wrapped->held;
  wrapped->tensor = {held.data_ptr(),
                     from_torch(held.device()),
                     static_cast<int32_t>(held.dim()),
                     found->type,
                     held.dim() > 0 ? held.sizes().data() : nullptr,
                     nullptr,
                     0};
  return wrapped.release();
}

}  // namespace enginehost::engines::pytorch
