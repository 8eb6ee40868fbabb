// Compares a tensor with the model's description of an input. Needs libc only.
#pragma once
#include "engines/support/tensor.hpp"

namespace enginehost::engines {

// True if type and shape match the port: -1 is any size, a rank of -1 any shape, bits 0 any type.
inline bool fits_port(const engine_port& port, const engine_tensor& tensor) {
  if (port.dtype.bits != 0 && !same_type(port.dtype, tensor.dtype)) return false;
  if (port.ndim < 0) return true;
  if (port.ndim != tensor.ndim) return false;
  for (int32_t i = 0; i < port.ndim; i++) {
    if (port.shape[i] >= 0 && port.shape[i] != tensor.shape[i]) return false;
  }
  return true;
}

// "is float32[2,3], and the model takes float32[?,4]"
inline Text misfit(const engine_port& port, const engine_tensor& tensor) {
  Text text;
  (text << "is ").type(tensor.dtype).shape(tensor.ndim, tensor.shape) << ", and the model takes ";
  port.dtype.bits != 0 ? text.type(port.dtype) : text << "any type";
  if (port.ndim < 0) return text << " of any shape";
  return port.dtype.bits != 0 ? text.shape(port.ndim, port.shape)
                              : (text << " of the shape ").shape(port.ndim, port.shape);
}

}  // namespace enginehost::engines
