// The inputs on which the operations of two engines are compared: shapes, values, attributes, and cases that
// must be refused. The list is the same at every run.
#pragma once
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/numbers.hpp"

namespace enginehost::gpu {

using Attributes = std::vector<std::pair<std::string, std::string>>;

enum class Fill {
  usual,      // evenly between -1 and 1
  whole,      // whole numbers from -4 to 4: sums of their products are exact in every order
  special,    // NaN, infinities, both zeros, the largest and the smallest numbers, among usual ones
  infinite,   // a few NaN and infinities among usual ones
  tiny,       // numbers below the smallest normal one
  far_apart,  // from -3e4 to 3e4: e to the power of most of them is nothing or infinite
  equal,      // all 1e4
  between,    // 1 + 2^-12, which TF32 (10 bits of mantissa) takes for 1
};
enum class Layout {
  usual,
  with_strides,      // those that compact data has
  odd_unit_strides,  // axes of size 1 have any stride
  inside,            // begins at one element behind a multiple of 64 bytes
  with_offset,       // the same, by byte_offset
  transposed,        // not compact: must be refused
  without_data,      // NULL
  elsewhere,         // on cuda:99
};

struct Given {
  Shape shape;
  Fill fill = Fill::usual;
  Type type = float32;
  Layout layout = Layout::usual;
};

struct Case {
  std::string operation;
  std::vector<Given> inputs;
  Attributes attributes = {};
  // "Conv [1,3,9,9] [4,3,3,3] strides="2,2"
  std::string text() const;
};

// With `quick` only the small ones, for tools that slow every instruction down.
std::vector<Case> all_cases(bool quick);

// The inputs of a case in host memory.
class Inputs {
 public:
  // `number` of the case decides its values. With `size` each value is its absolute value.
  Inputs(const Case& of, std::uint64_t number, bool size = false);
  const std::vector<const engine_tensor*>& tensors() const { return pointers_; }
  // Whether they may be copied; an input that must be refused stays in its memory.
  bool can_move() const { return can_move_; }
  // For an input that does not begin at its memory's first byte: all of that memory, as a row; nullptr for
  // others.
  const engine_tensor* row_around(std::size_t input) const {
    return made_[input].row.data != nullptr ? &made_[input].row : nullptr;
  }

 private:
  struct Made {
    Shape shape, strides, row_shape;
    Memory memory;
    engine_tensor tensor{}, row{};
  };
  void make(const Given& given, std::uint64_t seed, bool size);
  std::deque<Made> made_;
  std::vector<const engine_tensor*> pointers_;
  bool can_move_ = true;
};

}  // namespace enginehost::gpu
