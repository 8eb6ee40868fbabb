// Conv with two spatial axes, computed by cuDNN.
#include <climits>
#include <cstring>

#include "engines/cuda/operation.hpp"

namespace enginehost::engines::cuda {
namespace {

struct Axis {
  int64_t in, window, stride, dilation, before, after, out;
};

template <class Handle, cudnnStatus_t (*Create)(Handle*), cudnnStatus_t (*Destroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  Owned(const char* call, int device) { check(Create(&handle), call, device); }
  ~Owned() { static_cast<void>(Destroy(handle)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};
using Tensor = Owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using Filter = Owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using Description =
    Owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor>;

class Convolution : public Job {
 public:
  Convolution(Shape result, Shape image, Shape weights, Axis y, Axis x, int64_t group, bool bias)
      : Job(std::move(result)),
        image_(std::move(image)),
        weights_(std::move(weights)),
        y_(y),
        x_(x),
        group_(group),
        bias_(bias) {}

  void run(Session& session, const std::vector<const float*>& inputs, float* out) const override {
    const int device = session.device();
    if (elements_of(image_) == 0 || elements_of(weights_) == 0) {  // a sum without terms
      check(
          cudaMemsetAsync(out, 0, static_cast<size_t>(elements_of(shape)) * sizeof(float), session.stream()),
          "cudaMemsetAsync", device);
      return add_bias(session, inputs, out);
    }
    // cuDNN pads both ends of an axis equally. Further padding that ONNX asks for surrounds a copy of the
    // image.
    Shape image = image_;
    const int64_t pad_y = std::min(y_.before, y_.after), pad_x = std::min(x_.before, x_.after);
    const float* data = inputs[0];
    Buffer padded;
    if (y_.before != y_.after || x_.before != x_.after) {
      image[2] += y_.before + y_.after - 2 * pad_y;
      image[3] += x_.before + x_.after - 2 * pad_x;
      padded = Buffer(static_cast<size_t>(elements_of(image)) * sizeof(float), device);
      place_in(session, data, padded.floats(), image, y_.before - pad_y, x_.before - pad_x);
      data = padded.floats();
    }
    convolve(session, image, data, inputs[1], pad_y, pad_x, out);
    if (padded.data() != nullptr) session.finish();  // the copy is freed below
    add_bias(session, inputs, out);
  }

 private:
  void place_in(Session& session, const float* from, float* to, const Shape& image, int64_t row,
                int64_t column) const {
    const auto width = static_cast<size_t>(image[3]), height = static_cast<size_t>(image[2]);
    check(cudaMemsetAsync(to, 0, static_cast<size_t>(elements_of(image)) * sizeof(float), session.stream()),
          "cudaMemsetAsync", session.device());
    cudaMemcpy3DParms copy{};
    const auto in_width = static_cast<size_t>(image_[3]), in_height = static_cast<size_t>(image_[2]);
    copy.srcPtr = make_pitched(const_cast<float*>(from), in_width, in_height);
    copy.dstPtr = make_pitched(to, width, height);
    copy.dstPos = {static_cast<size_t>(column) * sizeof(float), static_cast<size_t>(row), 0};
    copy.extent = {in_width * sizeof(float), in_height, static_cast<size_t>(image[0] * image[1])};
    copy.kind = cudaMemcpyDeviceToDevice;
    check(cudaMemcpy3DAsync(&copy, session.stream()), "cudaMemcpy3DAsync", session.device());
  }

  static cudaPitchedPtr make_pitched(float* data, size_t width, size_t height) {
    return {data, width * sizeof(float), width * sizeof(float), height};
  }

  void convolve(Session& session, const Shape& image, const float* data, const float* weights, int64_t pad_y,
                int64_t pad_x, float* out) const {
    const int device = session.device();
    auto whole = [](int64_t value) { return static_cast<int>(value); };  // prepare() has checked the sizes
    Tensor in("cudnnCreateTensorDescriptor", device), result("cudnnCreateTensorDescriptor", device);
    Filter filter("cudnnCreateFilterDescriptor", device);
    Description description("cudnnCreateConvolutionDescriptor", device);
    check(cudnnSetTensor4dDescriptor(in.handle, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, whole(image[0]),
                                     whole(image[1]), whole(image[2]), whole(image[3])),
          "cudnnSetTensor4dDescriptor", device);
    check(cudnnSetTensor4dDescriptor(result.handle, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, whole(shape[0]),
                                     whole(shape[1]), whole(shape[2]), whole(shape[3])),
          "cudnnSetTensor4dDescriptor", device);
    check(cudnnSetFilter4dDescriptor(filter.handle, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, whole(weights_[0]),
                                     whole(weights_[1]), whole(weights_[2]), whole(weights_[3])),
          "cudnnSetFilter4dDescriptor", device);
    check(cudnnSetConvolution2dDescriptor(description.handle, whole(pad_y), whole(pad_x), whole(y_.stride),
                                          whole(x_.stride), whole(y_.dilation), whole(x_.dilation),
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "cudnnSetConvolution2dDescriptor", device);
    check(cudnnSetConvolutionGroupCount(description.handle, whole(group_)), "cudnnSetConvolutionGroupCount",
          device);
    check(
        cudnnSetConvolutionMathType(description.handle, session.tf32() ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH),
        "cudnnSetConvolutionMathType", device);
    cudnnConvolutionFwdAlgoPerf_t chosen{};
    int found = 0;
    check(cudnnGetConvolutionForwardAlgorithm_v7(session.cudnn(), in.handle, filter.handle,
                                                 description.handle, result.handle, 1, &found, &chosen),
          "cudnnGetConvolutionForwardAlgorithm_v7", device);
    check(found == 0 ? CUDNN_STATUS_NOT_SUPPORTED : chosen.status, "cudnnGetConvolutionForwardAlgorithm_v7",
          device);
    check(cudnnSetConvolutionMathType(description.handle, chosen.mathType), "cudnnSetConvolutionMathType",
          device);
    void* room = session.workspace(chosen.memory);
    const float one = 1, zero = 0;
    check(cudnnConvolutionForward(session.cudnn(), &one, in.handle, data, filter.handle, weights,
                                  description.handle, chosen.algo, room, chosen.memory, &zero, result.handle,
                                  out),
          "cudnnConvolutionForward", device);
  }

  void add_bias(Session& session, const std::vector<const float*>& inputs, float* out) const {
    if (!bias_) return;
    const Shape bias{shape[1], 1, 1};
    check(launch_binary(Binary::add, out, inputs[2], out, elements_of(shape),
                        axes_of(shape, bias, shape, "Conv"), session.stream()),
          "the kernel of Add", session.device());
  }

  Shape image_, weights_;
  Axis y_, x_;
  int64_t group_;
  bool bias_;
};

Failure invalid(std::string message) { return {ENGINE_INVALID, std::move(message)}; }

// Computes pads and the size of the result.
void pad(Axis& axis, const char* automatic, int64_t before, int64_t after) {
  const int64_t window = (axis.window - 1) * axis.dilation + 1;
  axis.before = before;
  axis.after = after;
  if (automatic != nullptr && std::strcmp(automatic, "NOTSET") != 0) {
    axis.before = axis.after = 0;
    const bool upper = std::strcmp(automatic, "SAME_UPPER") == 0;
    if (upper || std::strcmp(automatic, "SAME_LOWER") == 0) {
      const int64_t wanted = (axis.in + axis.stride - 1) / axis.stride;
      const int64_t total = std::max<int64_t>(0, (wanted - 1) * axis.stride + window - axis.in);
      axis.before = upper ? total / 2 : total - total / 2;
      axis.after = total - axis.before;
    } else if (std::strcmp(automatic, "VALID") != 0) {
      throw invalid(
          std::string("Conv supports NOTSET, SAME_UPPER, SAME_LOWER and VALID for \"auto_pad\", not \"") +
          automatic + "\".");
    }
  }
  const int64_t slack = axis.in + axis.before + axis.after - window;
  if (slack < 0) {
    throw invalid("The window of Conv covers " + std::to_string(window) +
                  " pixels, and the padded image has " + std::to_string(axis.in + axis.before + axis.after) +
                  " on that axis.");
  }
  if (axis.in + axis.before + axis.after > INT_MAX)  // cuDNN counts in int
    throw Failure{ENGINE_UNSUPPORTED, "Conv of an image that is padded to " +
                                          std::to_string(axis.in + axis.before + axis.after) +
                                          " pixels on an axis is larger than cuDNN takes."};
  axis.out = slack / axis.stride + 1;
}

void in_range(const std::vector<int64_t>& values, const char* key, int64_t least) {
  for (int64_t value : values) {
    if (value < least || value > INT_MAX / 4)
      throw invalid(std::string("Conv needs integers from ") + std::to_string(least) + " on in \"" + key +
                    "\".");
  }
}

}  // namespace

std::unique_ptr<Job> prepare_convolution(const std::vector<Shape>& inputs, const Attributes& attributes) {
  attributes.allow({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  const Shape &image = inputs[0], &weights = inputs[1];
  if (image.size() != 4 || weights.size() != 4) {
    throw Failure{image.size() == weights.size() ? ENGINE_UNSUPPORTED : ENGINE_INVALID,
                  "Conv is computed for images of two axes; the input has the shape " + text_of(image) +
                      " and the weights " + text_of(weights) + "."};
  }
  for (const Shape* one : {&image, &weights}) {  // cuDNN counts in int
    for (int64_t size : *one)
      if (size > INT_MAX / 4)
        throw Failure{ENGINE_UNSUPPORTED,
                      "Conv of the shape " + text_of(*one) + " is larger than cuDNN takes."};
  }
  const Shape strides = attributes.integers("strides", {1, 1}, 2),
              pads = attributes.integers("pads", {0, 0, 0, 0}, 4);
  const Shape dilations = attributes.integers("dilations", {1, 1}, 2);
  const int64_t group = attributes.integer("group", 1);
  in_range(strides, "strides", 1);
  in_range(dilations, "dilations", 1);
  in_range(pads, "pads", 0);
  if (attributes.integers("kernel_shape", {weights[2], weights[3]}, 2) != Shape{weights[2], weights[3]}) {
    throw invalid("The attribute \"kernel_shape\" of Conv differs from its weights, which have the shape " +
                  text_of(weights) + ".");
  }
  if (weights[2] < 1 || weights[3] < 1) throw invalid("Conv has weights of shape " + text_of(weights) + ".");
  if (group < 1 || image[1] % group != 0 || weights[0] % group != 0 || weights[1] != image[1] / group) {
    throw invalid("Conv in " + std::to_string(group) + " groups cannot apply weights of shape " +
                  text_of(weights) + " to an image of shape " + text_of(image) + ".");
  }
  if (inputs.size() == 3 && inputs[2] != Shape{weights[0]}) {
    throw invalid("Conv needs one bias for each of its " + std::to_string(weights[0]) +
                  " features, not the shape " + text_of(inputs[2]) + ".");
  }
  Axis y{image[2], weights[2], strides[0], dilations[0], 0, 0, 0};
  Axis x{image[3], weights[3], strides[1], dilations[1], 0, 0, 0};
  pad(y, attributes.text("auto_pad"), pads[0], pads[2]);
  pad(x, attributes.text("auto_pad"), pads[1], pads[3]);
  const Shape padded{image[0], image[1], y.in + y.before + y.after, x.in + x.before + x.after};
  if (Text why; !check_shape({ENGINE_FLOAT, 32, 1}, 4, padded.data(), why))
    throw invalid(std::string("The padded image of Conv ") + why.c_str() + ".");
  return std::make_unique<Convolution>(Shape{image[0], weights[0], y.out, x.out}, image, weights, y, x, group,
                                       inputs.size() == 3);
}

}  // namespace enginehost::engines::cuda
