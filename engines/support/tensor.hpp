// Checks and computations on tensors for every plugin. Needs libc only.
#pragma once
#include <cstdlib>
#include <initializer_list>

#include "engines/support/system.hpp"
#include "engines/support/text.hpp"

namespace enginehost::engines {

constexpr int32_t maximum_rank =
    64;  // far above what any engine computes with; keeps hostile shapes off the stack

inline bool same_type(engine_dtype a, engine_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
inline bool is_float32(engine_dtype type) { return same_type(type, {ENGINE_FLOAT, 32, 1}); }
inline bool in_host_memory(engine_device device) {
  return device.type == ENGINE_CPU || device.type == ENGINE_CUDA_HOST || device.type == ENGINE_ROCM_HOST;
}
inline bool same_shape(const engine_tensor& a, const engine_tensor& b) {
  if (a.ndim != b.ndim) return false;
  for (int32_t i = 0; i < a.ndim; i++) {
    if (a.shape[i] != b.shape[i]) return false;
  }
  return true;
}

// Returns the number of elements of a shape that `check_shape` accepted.
inline size_t element_count(int32_t ndim, const int64_t* shape) {
  size_t count = 1;
  for (int32_t i = 0; i < ndim; i++) count *= static_cast<size_t>(shape[i]);
  return count;
}
inline size_t byte_count(engine_dtype type, int32_t ndim, const int64_t* shape) {
  return (element_count(ndim, shape) * type.bits * type.lanes + 7) / 8;
}
template <class T>
T* data_of(const engine_tensor& tensor) {
  return static_cast<T*>(static_cast<void*>(static_cast<char*>(tensor.data) + tensor.byte_offset));
}

// True if a shape can exist in memory: no negative size, no overflow up to 2^60 bits. Otherwise writes the
// problem to `why`.
inline bool check_shape(engine_dtype type, int32_t ndim, const int64_t* shape, Text& why) {
  if (ndim < 0 || ndim > maximum_rank) {
    why << "has " << int64_t{ndim} << " dimensions";
    return false;
  }
  uint64_t bits = uint64_t{type.bits} * type.lanes;
  if (bits == 0) {
    why << "has no element type";
    return false;
  }
  bool empty = false;
  for (int32_t i = 0; i < ndim; i++) {
    if (shape[i] < 0) {
      why << "has the negative size " << shape[i];
      return false;
    }
    empty = empty || shape[i] == 0;
  }
  for (int32_t i = 0; i < ndim && !empty; i++) {
    if (__builtin_mul_overflow(bits, static_cast<uint64_t>(shape[i]), &bits) || bits > uint64_t{1} << 60) {
      why << "is larger than any memory: ";
      why.shape(ndim, shape);
      return false;
    }
  }
  return true;
}

// True if a tensor from the host follows the header's rules (shape, compactness, data).
inline bool check_tensor(const engine_tensor& tensor, Text& why) {
  if (!check_shape(tensor.dtype, tensor.ndim, tensor.shape, why)) return false;
  size_t elements = element_count(tensor.ndim, tensor.shape);
  if (tensor.strides != nullptr && elements > 1) {
    int64_t expected = 1;
    for (int32_t i = tensor.ndim - 1; i >= 0; i--) {
      if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
        why << "is not compact: its strides are ";
        why.shape(tensor.ndim, tensor.strides);
        return false;
      }
      expected *= tensor.shape[i];
    }
  }
  if (elements > 0 && tensor.data == nullptr) {
    why << "has no data";
    return false;
  }
  return true;
}

// Makes a tensor in host memory that owns its shape and data in one block, aligned to 64 bytes; nullptr when
// memory is exhausted. The shape must have passed check_shape. The tensor does not depend on the engine that
// made it.
inline engine_owned_tensor* make_host_tensor(engine_dtype type, int32_t ndim, const int64_t* shape) {
  size_t shape_bytes = static_cast<size_t>(ndim) * sizeof *shape;
  size_t head = (sizeof(engine_owned_tensor) + shape_bytes + 63) / 64 * 64;
  size_t size = head + (byte_count(type, ndim, shape) + 63) / 64 * 64;
  auto* block = static_cast<char*>(allocate_aligned(size));
  if (block == nullptr) return nullptr;
  auto* tensor = static_cast<engine_owned_tensor*>(static_cast<void*>(block));
  *tensor = engine_owned_tensor{};
  tensor->major = ENGINE_DLPACK_MAJOR;
  tensor->minor = ENGINE_DLPACK_MINOR;
  tensor->release = [](engine_owned_tensor* self) noexcept { free_aligned(self); };
  auto* own_shape = static_cast<int64_t*>(static_cast<void*>(block + sizeof(engine_owned_tensor)));
  if (ndim > 0) std::memcpy(own_shape, shape, shape_bytes);
  tensor->tensor = {block + head, {ENGINE_CPU, 0}, ndim, type, ndim > 0 ? own_shape : nullptr, nullptr, 0};
  return tensor;
}

// engine.tensor/1 for an engine that only has host memory.
inline engine_status create_host_tensor(const char* origin, const engine_tensor* like,
                                        engine_owned_tensor** out, engine_call* call) {
  *out = nullptr;
  Text why;
  if (!in_host_memory(like->device)) {
    return refuse(call, ENGINE_INVALID, origin,
                  (why << "This engine has only cpu:0; the tensor was requested on ").device(like->device));
  }
  if (like->dtype.code == ENGINE_STRING) {
    return refuse(call, ENGINE_UNSUPPORTED, origin,
                  why << "String tensors are made where their text is known.");
  }
  Text reason;
  if (!check_shape(like->dtype, like->ndim, like->shape, reason)) {
    return refuse(call, ENGINE_INVALID, origin, why << "The tensor " << reason.c_str() << ".");
  }
  *out = make_host_tensor(like->dtype, like->ndim, like->shape);
  if (*out != nullptr) return ENGINE_OK;
  return refuse(call, ENGINE_NO_MEMORY, origin,
                (why << "There is no memory for a tensor of shape ").shape(like->ndim, like->shape));
}

inline engine_status copy_host_tensor(const char* origin, const engine_tensor* from, const engine_tensor* to,
                                      engine_call* call) {
  Text why;
  for (const engine_tensor* tensor : {from, to}) {
    Text reason;
    if (!in_host_memory(tensor->device)) {
      return refuse(call, ENGINE_INVALID, origin,
                    (why << "This engine reaches host memory only, not ").device(tensor->device));
    }
    if (!check_tensor(*tensor, reason)) {
      return refuse(call, ENGINE_INVALID, origin, why << "A tensor to copy " << reason.c_str() << ".");
    }
  }
  if (!same_type(from->dtype, to->dtype) || !same_shape(*from, *to)) {
    why << "A copy needs equal types and shapes, not ";
    why.type(from->dtype).shape(from->ndim, from->shape) << " and ";
    return refuse(call, ENGINE_INVALID, origin, why.type(to->dtype).shape(to->ndim, to->shape));
  }
  if (from->dtype.code == ENGINE_STRING) {
    return refuse(call, ENGINE_UNSUPPORTED, origin,
                  why << "The text of strings has no room in another tensor.");
  }
  if (size_t bytes = byte_count(from->dtype, from->ndim, from->shape); bytes > 0) {
    std::memmove(data_of<void>(*to), data_of<void>(*from), bytes);
  }
  return ENGINE_OK;
}

}  // namespace enginehost::engines
