// A tensor that an application passed, converted to what engine_plugin.h promises plugins: no strides, a
// valid shape and type, and data that begins at a multiple of its element's size.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::load {

// Movable. The tensor is valid as long as this object and the application's tensor. Any thread.
class PassedTensor {
 public:
  // EH-P44 ("input", "given", "wanted"): strides with gaps; a missing shape, a negative rank or extent, or a
  // byte count that overflows; a type of several lanes or of no bits; strings of another size; no data
  // although there are elements. Host memory that begins between two elements is copied; on a device it is
  // EH-P44. EH-E01 when there is no memory for the copy.
  static Result<PassedTensor> take(std::string_view input, const engine_tensor& passed);

  const engine_tensor& tensor() const { return tensor_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  engine_tensor tensor_{};
  std::unique_ptr<std::byte, Free> copy_;
};

}  // namespace enginehost::load
