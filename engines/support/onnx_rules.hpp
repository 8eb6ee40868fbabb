// The rules of ONNX opset 13 for the types, shapes and attributes of Add, Sub, Mul, Div, MatMul, Softmax and
// Conv, for adapters whose library computes something else or hangs when they are broken. Other operations
// pass.
#pragma once
#include <cstdint>

#include "engines/support/attributes.hpp"
#include "engines/support/tensor.hpp"

namespace enginehost::engines {

template <class Failure>
class OnnxRules {
 public:
  // Reads only the tensors' types and shapes. `attributes` belongs to the same operation.
  OnnxRules(const char* operation, const engine_tensor* const* inputs, size_t count,
            const Attributes<Failure>& attributes)
      : operation_(operation), inputs_(inputs), count_(count), attributes_(attributes) {}

  // Throws a Failure (invalid).
  void check() const;

 private:
  bool is(const char* name) const { return std::strcmp(operation_, name) == 0; }
  [[noreturn]] void refuse(const char* rule) const;
  void check_broadcast(int32_t left_rank, int32_t right_rank) const;
  void check_product() const;
  void check_softmax() const;
  void check_convolution() const;
  void check_windows(size_t axes, const std::vector<int64_t>& dilations,
                     const std::vector<int64_t>& pads) const;
  std::vector<int64_t> counted(const char* key, size_t count, int64_t otherwise, int64_t least) const;

  const char* operation_;
  const engine_tensor* const* inputs_;
  size_t count_;
  const Attributes<Failure>& attributes_;
};

template <class Failure>
void check_onnx_rules(const char* operation, const engine_tensor* const* inputs, size_t count,
                      const Attributes<Failure>& attributes) {
  OnnxRules<Failure>(operation, inputs, count, attributes).check();
}

template <class Failure>
void OnnxRules<Failure>::check() const {
  const bool element_by_element = count_ == 2 && (is("Add") || is("Sub") || is("Mul") || is("Div"));
  if (element_by_element || is("MatMul") || is("Conv")) {
    for (size_t i = 1; i < count_; i++)
      if (!same_type(inputs_[i]->dtype, inputs_[0]->dtype)) refuse("the inputs are of one type");
  }
  if (element_by_element) return check_broadcast(inputs_[0]->ndim, inputs_[1]->ndim);
  if (count_ == 2 && is("MatMul")) return check_product();
  if (count_ == 1 && is("Softmax")) return check_softmax();
  if (count_ >= 2 && is("Conv")) return check_convolution();
}

template <class Failure>
void OnnxRules<Failure>::refuse(const char* rule) const {
  Text text;
  text << operation_ << " of the shapes ";
  for (size_t i = 0; i < count_; i++) {
    text << (i == 0 ? "" : i + 1 == count_ ? " and " : ", ");
    text.shape(inputs_[i]->ndim, inputs_[i]->shape);
  }
  throw Failure{ENGINE_INVALID, (text << ": " << rule << ".").c_str()};
}

// Checks only that many leading axes of both inputs.
template <class Failure>
void OnnxRules<Failure>::check_broadcast(int32_t left_rank, int32_t right_rank) const {
  for (int32_t i = 1; i <= left_rank && i <= right_rank; i++) {
    const int64_t left = inputs_[0]->shape[left_rank - i], right = inputs_[1]->shape[right_rank - i];
    if (left != right && left != 1 && right != 1)
      refuse(is("MatMul") ? "the sizes before the matrices are equal or have a 1"
                          : "each pair of sizes, from the right, is equal or has a 1");
  }
}

template <class Failure>
void OnnxRules<Failure>::check_product() const {
  const engine_tensor &left = *inputs_[0], &right = *inputs_[1];
  if (left.ndim == 0 || right.ndim == 0) refuse("a scalar is no matrix");
  if (left.shape[left.ndim - 1] != right.shape[right.ndim == 1 ? 0 : right.ndim - 2])
    refuse("the last size of the left one is the last but one of the right one");
  check_broadcast(left.ndim - 2, right.ndim - 2);
}

template <class Failure>
void OnnxRules<Failure>::check_softmax() const {
  const int64_t axis = attributes_.integer("axis", -1), rank = inputs_[0]->ndim;
  if (axis < -rank || axis >= rank) refuse("there is no such axis");
}

template <class Failure>
std::vector<int64_t> OnnxRules<Failure>::counted(const char* key, size_t count, int64_t otherwise,
                                                 int64_t least) const {
  std::vector<int64_t> out = attributes_.integers(key, std::vector<int64_t>(count, otherwise), count);
  for (const int64_t value : out)
    if (value < least || value > INT32_MAX)
      refuse("strides and dilations begin at 1, pads at 0, and all end at 2^31 - 1");
  return out;
}

template <class Failure>
void OnnxRules<Failure>::check_convolution() const {
  const engine_tensor &image = *inputs_[0], &weights = *inputs_[1];
  if (image.ndim < 3 || weights.ndim != image.ndim)
    refuse("an image has at least three axes, and weights have as many");
  const auto axes = static_cast<size_t>(image.ndim - 2);
  for (size_t i = 0; i < axes; i++) {
    if (weights.shape[i + 2] < 1 || weights.shape[i + 2] > INT32_MAX || image.shape[i + 2] > INT64_MAX / 4)
      refuse("a window covers 1 to 2^31 - 1 pixels, and an image has less than 2^61 on an axis");
  }
  const std::vector<int64_t> window(weights.shape + 2, weights.shape + weights.ndim);
  if (attributes_.integers("kernel_shape", window, axes) != window)
    refuse("kernel_shape differs from the weights");
  const int64_t group = attributes_.integer("group", 1);
  if (group < 1 || image.shape[1] % group != 0 || weights.shape[0] % group != 0 ||
      weights.shape[1] != image.shape[1] / group)
    refuse("the groups do not divide the channels and features");
  if (count_ == 3 && (inputs_[2]->ndim != 1 || inputs_[2]->shape[0] != weights.shape[0]))
    refuse("there is one bias for each feature");
  counted("strides", axes, 1, 1);
  check_windows(axes, counted("dilations", axes, 1, 1), counted("pads", 2 * axes, 0, 0));
}

template <class Failure>
void OnnxRules<Failure>::check_windows(size_t axes, const std::vector<int64_t>& dilations,
                                       const std::vector<int64_t>& pads) const {
  const char* automatic = attributes_.text("auto_pad");
  const bool given = automatic == nullptr || std::strcmp(automatic, "NOTSET") == 0;
  const bool same =
      !given && (std::strcmp(automatic, "SAME_UPPER") == 0 || std::strcmp(automatic, "SAME_LOWER") == 0);
  if (!given && !same && std::strcmp(automatic, "VALID") != 0)
    refuse("auto_pad is NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  for (size_t i = 0; i < axes; i++) {
    const int64_t size = inputs_[0]->shape[i + 2], window = (inputs_[1]->shape[i + 2] - 1) * dilations[i] + 1;
    if (!same && size + (given ? pads[i] + pads[axes + i] : 0) < window)
      refuse("a window is larger than the padded image");
    // SAME pads an image without pixels to nothing that a window of one would cover.
    if (same && size < 1) refuse("an image without pixels cannot be padded to its size");
  }
}

}  // namespace enginehost::engines
