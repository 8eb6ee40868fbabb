// tensor.hpp - numbers as tensors of DLPack, for programs without dlpack.h. Part of enginehost.hpp.
//
// Thread safety: as for std::vector.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace enginehost::sdk {

namespace detail {
// DLPack's DLTensor.
struct DlTensor {
  void* data = nullptr;
  std::int32_t device_type = 1, device_id = 0;  // host memory
  std::int32_t ndim = 0;
  std::uint8_t dtype_code = 0, dtype_bits = 0;
  std::uint16_t dtype_lanes = 1;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};

template <class Number>
constexpr std::uint8_t dtype_code() {
  static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool> && sizeof(Number) <= 8,
                "make a DLTensor for another type");
  return std::is_floating_point_v<Number> ? 2 : std::is_unsigned_v<Number> ? 1 : 0;
}

inline std::uint64_t count(const std::int64_t* shape, std::size_t dimensions) {
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (shape[i] < 0) throw std::invalid_argument("a shape has the extent " + std::to_string(shape[i]));
    elements *= static_cast<std::uint64_t>(shape[i]);
  }
  return elements;
}

inline const DlTensor& checked(const void* tensor) {
  if (tensor == nullptr) throw std::invalid_argument("there is no such tensor, or it was taken");
  return *static_cast<const DlTensor*>(tensor);
}
}  // namespace detail

// Numbers of the caller as a tensor in host memory, row by row. It refers to the numbers, which must outlive
// it. Throws std::invalid_argument if the shape needs more or fewer.
class Tensor {
 public:
  template <class Number>
  Tensor(const std::vector<Number>& numbers, std::vector<std::int64_t> shape) : shape_(std::move(shape)) {
    const std::uint64_t needed = detail::count(shape_.data(), shape_.size());
    if (needed != numbers.size())
      throw std::invalid_argument("the shape needs " + std::to_string(needed) + " numbers, and there are " +
                                  std::to_string(numbers.size()));
    tensor_.data = const_cast<Number*>(numbers.data());  // an input is only read
    tensor_.ndim = static_cast<std::int32_t>(shape_.size());
    tensor_.dtype_code = detail::dtype_code<Number>();
    tensor_.dtype_bits = static_cast<std::uint8_t>(8 * sizeof(Number));
    tensor_.shape = shape_.data();
  }
  Tensor(const Tensor&) = delete;  // a copy would refer to this shape
  Tensor& operator=(const Tensor&) = delete;
  const void* get() const { return &tensor_; }  // a DLTensor

 private:
  std::vector<std::int64_t> shape_;
  detail::DlTensor tensor_;
};

// Returns the shape of a DLTensor.
inline std::vector<std::int64_t> shape_of(const void* tensor) {
  const detail::DlTensor& found = detail::checked(tensor);
  return {found.shape, found.shape + found.ndim};
}

// Returns the elements of a DLTensor that is compact and in host memory, as outputs are, row by row. Throws
// std::invalid_argument if they have another type.
template <class Number>
std::vector<Number> numbers_of(const void* tensor) {
  const detail::DlTensor& found = detail::checked(tensor);
  if (found.dtype_code != detail::dtype_code<Number>() || found.dtype_bits != 8 * sizeof(Number))
    throw std::invalid_argument("the elements have DLPack's type " + std::to_string(found.dtype_code) +
                                " with " + std::to_string(found.dtype_bits) +
                                " bits, and another one was asked for");
  std::vector<Number> all(
      static_cast<std::size_t>(detail::count(found.shape, static_cast<std::size_t>(found.ndim))));
  if (!all.empty())
    std::memcpy(all.data(), static_cast<const char*>(found.data) + found.byte_offset,
                all.size() * sizeof(Number));
  return all;
}

}  // namespace enginehost::sdk
