#include "engines/cuda/tensors.hpp"

namespace enginehost::engines::cuda {
namespace {

struct DeviceTensor : engine_owned_tensor {
  std::vector<int64_t> shape;
  Buffer memory;
  int number = 0;
};

void release(engine_owned_tensor* self) noexcept {
  std::unique_ptr<DeviceTensor> tensor(static_cast<DeviceTensor*>(self));
  try {
    OnDevice here(tensor->number);
    tensor->memory = Buffer();
  } catch (const Failure&) {  // the device is lost, and so is its memory
    static_cast<void>(tensor->memory.release());
  }
}

void look_at(const engine_tensor& tensor, const char* what) {
  Text why;
  if (tensor.dtype.code == ENGINE_STRING)
    throw Failure{ENGINE_UNSUPPORTED, "Strings are not kept on a device and not copied there."};
  if (!check_shape(tensor.dtype, tensor.ndim, tensor.shape, why))
    throw Failure{ENGINE_INVALID, std::string(what) + " " + why.c_str() + "."};
}

engine_status create_tensor(engine_instance* engine, const engine_tensor* like, engine_owned_tensor** out,
                            engine_call* call) noexcept {
  *out = nullptr;
  if (in_host_memory(like->device)) return create_host_tensor("", like, out, call);
  return catch_all(call, [&] {
    look_at(*like, "The tensor");
    int device = index_of(like->device, engine->devices);
    OnDevice here(device);
    engine->devices.list[static_cast<size_t>(device)]->in_use = true;
    *out = wrap(Buffer(byte_count(like->dtype, like->ndim, like->shape), device), *like, device);
  });
}

engine_status copy_tensor(engine_instance* engine, const engine_tensor* from, const engine_tensor* to,
                          engine_call* call) noexcept {
  if (in_host_memory(from->device) && in_host_memory(to->device)) return copy_host_tensor("", from, to, call);
  return catch_all(call, [&] {
    for (const engine_tensor* tensor : {from, to}) {
      Text why;
      look_at(*tensor, "A tensor to copy");
      if (!check_tensor(*tensor, why))
        throw Failure{ENGINE_INVALID, std::string("A tensor to copy ") + why.c_str() + "."};
    }
    if (!same_type(from->dtype, to->dtype) || !same_shape(*from, *to)) {
      Text why;
      why << "A copy needs equal types and shapes, not ";
      why.type(from->dtype).shape(from->ndim, from->shape) << " and ";
      throw Failure{ENGINE_INVALID, why.type(to->dtype).shape(to->ndim, to->shape).c_str()};
    }
    const bool upload = in_host_memory(from->device), download = in_host_memory(to->device);
    const int source = upload ? -1 : index_of(from->device, engine->devices);
    const int target = download ? source : index_of(to->device, engine->devices);
    OnDevice here(target);
    engine->devices.list[static_cast<size_t>(target)]->in_use = true;
    const size_t bytes = byte_count(from->dtype, from->ndim, from->shape);
    if (bytes == 0 || data_of<void>(*from) == data_of<void>(*to)) return;
    if (!upload && !download && source != target) {
      check(cudaMemcpyPeer(data_of<void>(*to), target, data_of<void>(*from), source, bytes), "cudaMemcpyPeer",
            target);
    } else {
      check(cudaMemcpy(data_of<void>(*to), data_of<void>(*from), bytes,
                       upload     ? cudaMemcpyHostToDevice
                       : download ? cudaMemcpyDeviceToHost
                                  : cudaMemcpyDeviceToDevice),
            "cudaMemcpy", target);
    }
    // Copies inside a device, and small ones to it, may return before they have finished.
    check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize", target);
  });
}

}  // namespace

const engine_tensor_v1 tensor_table = {create_tensor, copy_tensor};

engine_owned_tensor* wrap(Buffer memory, const engine_tensor& like, int device) {
  auto tensor = std::make_unique<DeviceTensor>();
  static_cast<engine_owned_tensor&>(*tensor) = {};
  tensor->major = ENGINE_DLPACK_MAJOR;
  tensor->minor = ENGINE_DLPACK_MINOR;
  engine_owned_tensor& shown = *tensor;
  shown.release = [](engine_owned_tensor* self) noexcept { release(self); };
  tensor->shape.assign(like.shape, like.shape + like.ndim);
  tensor->memory = std::move(memory);
  tensor->number = device;
  shown.tensor = {tensor->memory.data(),
                  {ENGINE_CUDA, device},
                  like.ndim,
                  like.dtype,
                  like.ndim > 0 ? tensor->shape.data() : nullptr,
                  nullptr,
                  0};
  return tensor.release();
}

}  // namespace enginehost::engines::cuda
