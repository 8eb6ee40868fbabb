// A tensor that an application passed, as engine_plugin.h promises tensors to plugins: without strides, with
// a shape and a type that can be counted, and begun at a multiple of its element's size.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::load {

// Movable. The tensor is valid as long as this object and what was passed; any thread.
class PassedTensor {
 public:
  // EH-P44 ("input", "given", "wanted"): strides with gaps, a shape that is missing, of a negative rank, with
  // a negative extent or of more bytes than there can be, a type of several lanes or of no bits, strings of
  // another size, no data for the elements there are. Host memory that begins between two elements is copied;
  // on a device it is EH-P44. EH-E01 where there is no memory for the copy.
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
