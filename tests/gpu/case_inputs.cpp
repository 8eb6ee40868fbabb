// The values and the memory of a case's inputs.
#include <cfloat>
#include <cmath>
#include <new>
#include <random>

#include "tests/gpu/operation_cases.hpp"

namespace enginehost::gpu {
namespace {

double special(std::uint64_t choice) {
  constexpr double values[] = {NAN,      INFINITY, -INFINITY, 0.0,       -0.0,     FLT_MAX,
                               -FLT_MAX, FLT_MIN,  0x1p-149,  -0x1p-149, 0x1p-130, 1e30};
  return values[choice % std::size(values)];
}

// Distributions of the standard library differ between libraries; this one does not.
double evenly(std::mt19937_64& generator, double least, double most) {
  return least + (most - least) * (static_cast<double>(generator() >> 11) * 0x1p-53);
}

double next_value(Fill fill, bool whole_only, std::mt19937_64& generator) {
  if (whole_only) return static_cast<double>(generator() % 9) - 4;
  switch (fill) {
    case Fill::usual:
      return evenly(generator, -1, 1);
    case Fill::whole:
      return static_cast<double>(generator() % 9) - 4;
    case Fill::special:
      return generator() % 3 == 0 ? special(generator()) : evenly(generator, -1, 1);
    case Fill::infinite:
      return generator() % 97 == 0 ? special(generator() % 3) : evenly(generator, -1, 1);
    case Fill::tiny:
      return evenly(generator, -1, 1) * 0x1p-127;
    case Fill::far_apart:
      return evenly(generator, -3e4, 3e4);
    case Fill::equal:
      return 1e4;
    case Fill::between:
      return 1 + 0x1p-12;
  }
  return 0;
}

// Sizes of tensors that must be refused may have a product that overflows.
Shape compact_strides(const Shape& shape) {
  Shape out(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    if (__builtin_mul_overflow(out[i], shape[i], &out[i - 1])) out[i - 1] = 0;
  return out;
}

const char* name_of(Fill fill) {
  constexpr const char* names[] = {"",
                                   " of whole numbers",
                                   " of special values",
                                   " with some not finite",
                                   " of tiny values",
                                   " of values far apart",
                                   " of equal values",
                                   " of 1 + 2^-12"};
  return names[static_cast<int>(fill)];
}
const char* name_of(Layout layout) {
  constexpr const char* names[] = {"",
                                   " with strides",
                                   " with strides of its own where the size is 1",
                                   " that begins 1 element behind a multiple of 64 bytes",
                                   " with a byte offset",
                                   " transposed",
                                   " without data",
                                   " on cuda:99"};
  return names[static_cast<int>(layout)];
}

}  // namespace

std::string Case::text() const {
  std::string out = operation;
  for (const Given& given : inputs) {
    out += " " + text_of(given.shape);
    if (given.type.dtype.code != ENGINE_FLOAT || given.type.dtype.bits != 32)
      out += std::string(" of ") + given.type.name;
    out += std::string(name_of(given.fill)) + name_of(given.layout);
  }
  for (const auto& [key, value] : attributes) {
    out += " " + key + "=\"";
    for (const char one : value) out += one == '\t' ? "\\t" : one == '\n' ? "\\n" : std::string(1, one);
    out += "\"";
  }
  return out;
}

Inputs::Inputs(const Case& of, std::uint64_t number, bool size) {
  for (std::size_t i = 0; i < of.inputs.size(); ++i) make(of.inputs[i], number * 16 + i, size);
}

void Inputs::make(const Given& given, std::uint64_t seed, bool size) {
  Made& made = made_.emplace_back();
  made.shape = given.shape;
  const std::size_t width = given.type.dtype.bits / 8, count = elements_of(given.shape);
  const bool moved = given.layout == Layout::inside || given.layout == Layout::with_offset;
  made.memory = allocate((count + 1) * width);
  if (made.memory == nullptr) throw std::bad_alloc();
  std::byte* const begin = made.memory.get() + (moved ? width : 0);
  if (moved) {
    write_element(given.type, 0, made.memory.get());
    made.row_shape = {static_cast<std::int64_t>(count + 1)};
    made.row = {made.memory.get(), {ENGINE_CPU, 0}, 1, given.type.dtype, made.row_shape.data(), nullptr, 0};
  }
  std::mt19937_64 generator(seed);
  const bool whole_only = given.type.epsilon == 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = next_value(given.fill, whole_only, generator);
    write_element(given.type, size ? std::fabs(value) : value, begin + i * width);
  }
  made.tensor = {begin,
                 {ENGINE_CPU, 0},
                 static_cast<std::int32_t>(made.shape.size()),
                 given.type.dtype,
                 nullptr,
                 nullptr,
                 0};
  if (!made.shape.empty()) made.tensor.shape = made.shape.data();
  made.strides = compact_strides(made.shape);
  switch (given.layout) {
    case Layout::usual:
    case Layout::inside:
      break;
    case Layout::with_offset:
      made.tensor.data = made.memory.get();
      made.tensor.byte_offset = width;
      break;
    case Layout::odd_unit_strides:
      for (std::size_t i = 0; i < made.shape.size(); ++i)
        if (made.shape[i] == 1) made.strides[i] = 12345;
      made.tensor.strides = made.strides.data();
      break;
    case Layout::transposed:
      std::swap(made.strides.front(), made.strides.back());
      [[fallthrough]];
    case Layout::with_strides:
      made.tensor.strides = made.strides.data();
      break;
    case Layout::without_data:
      made.tensor.data = nullptr;
      break;
    case Layout::elsewhere:
      made.tensor.device = {ENGINE_CUDA, 99};
      break;
  }
  can_move_ = can_move_ && given.layout < Layout::transposed && (count > 0) == [&] {
    bool all = true;
    for (const std::int64_t one : made.shape) all = all && one > 0;
    return all;
  }();
  for (const std::int64_t one : made.shape) can_move_ = can_move_ && one >= 0;
  pointers_.push_back(&made.tensor);
}

}  // namespace enginehost::gpu
