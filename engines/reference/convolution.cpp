// Conv with two spatial axes: patches of the image become the columns of a matrix, and the product with the
// weights is the result. Patches are gathered for a bounded number of result pixels at a time.
#include "engines/reference/gemm.hpp"
#include "engines/reference/operation.hpp"

namespace enginehost::engines::reference {
namespace {

constexpr size_t patch_room = size_t{1} << 20;  // floats: 4 MiB, so that patches stay in the caches

struct Axis {
  int64_t in, kernel, stride, dilation, before, after, out;
};

struct Convolution {
  int64_t batch, channels, features, group;
  Axis axes[2];
};

engine_status invalid(const OperationCall& call, const Text& text) {
  return refuse(call.call, ENGINE_INVALID, "reference", text);
}

engine_status pair_of(const OperationCall& call, const char* key, int64_t otherwise, int64_t least,
                      IntegerList& out) {
  out = {{otherwise, otherwise}, 2};
  if (engine_status status = call.attributes.integers(key, out, call.call)) return status;
  if (out.count == 2 && out.values[0] >= least && out.values[1] >= least && out.values[0] <= INT32_MAX &&
      out.values[1] <= INT32_MAX) {
    return ENGINE_OK;
  }
  call.call->detail(call.call, "option", key);
  return invalid(call, Text{} << "Conv needs two integers from " << least << " on in \"" << key << "\".");
}

engine_status read_padding(const OperationCall& call, Convolution& conv) {
  const char* automatic = call.attributes.find("auto_pad");
  IntegerList pads = {{0, 0, 0, 0}, 4};
  if (engine_status status = call.attributes.integers("pads", pads, call.call)) return status;
  bool usable = pads.count == 4;
  for (size_t i = 0; i < pads.count; i++)
    usable = usable && pads.values[i] >= 0 && pads.values[i] <= INT32_MAX;
  if (!usable) {
    call.call->detail(call.call, "option", "pads");
    return invalid(call,
                   Text{} << "Conv needs four integers from 0 on in \"pads\": top, left, bottom, right.");
  }
  bool explicit_pads = automatic == nullptr || std::strcmp(automatic, "NOTSET") == 0;
  bool upper = !explicit_pads && std::strcmp(automatic, "SAME_UPPER") == 0;
  bool lower = !explicit_pads && std::strcmp(automatic, "SAME_LOWER") == 0;
  if (!explicit_pads && !upper && !lower && std::strcmp(automatic, "VALID") != 0) {
    call.call->detail(call.call, "option", "auto_pad");
    return invalid(call,
                   Text{} << "Conv supports NOTSET, SAME_UPPER, SAME_LOWER and VALID for \"auto_pad\", not \""
                          << automatic << "\".");
  }
  for (size_t i = 0; i < 2; i++) {
    Axis& axis = conv.axes[i];
    int64_t window = (axis.kernel - 1) * axis.dilation + 1;
    axis.before = explicit_pads ? pads.values[i] : 0;
    axis.after = explicit_pads ? pads.values[i + 2] : 0;
    if (upper || lower) {
      int64_t wanted = (axis.in + axis.stride - 1) / axis.stride;
      int64_t total = (wanted - 1) * axis.stride + window - axis.in;
      if (total < 0) total = 0;
      axis.before = upper ? total / 2 : total - total / 2;
      axis.after = total - axis.before;
    }
    int64_t slack = axis.in + axis.before + axis.after - window;
    if (slack < 0) {
      return invalid(call, Text{} << "The window of Conv covers " << window
                                  << " pixels, and the padded image has "
                                  << axis.in + axis.before + axis.after << " on that axis.");
    }
    axis.out = slack / axis.stride + 1;
  }
  return ENGINE_OK;
}

engine_status read(const OperationCall& call, Convolution& conv) {
  const engine_tensor& image = *call.inputs[0];
  const engine_tensor& weights = *call.inputs[1];
  Text text;
  if (image.ndim != 4 || weights.ndim != 4) {
    text << "Conv is computed for images of two axes; the input has the shape ";
    text.shape(image.ndim, image.shape) << " and the weights ";
    return refuse(call.call, image.ndim == weights.ndim ? ENGINE_UNSUPPORTED : ENGINE_INVALID, "reference",
                  text.shape(weights.ndim, weights.shape) << ".");
  }
  conv = {image.shape[0], image.shape[1], weights.shape[0], 1, {}};
  IntegerList strides, dilations, kernel = {{weights.shape[2], weights.shape[3]}, 2};
  if (engine_status status = call.attributes.integer("group", conv.group, call.call)) return status;
  if (engine_status status = pair_of(call, "strides", 1, 1, strides)) return status;
  if (engine_status status = pair_of(call, "dilations", 1, 1, dilations)) return status;
  if (engine_status status = call.attributes.integers("kernel_shape", kernel, call.call)) return status;
  if (kernel.count != 2 || kernel.values[0] != weights.shape[2] || kernel.values[1] != weights.shape[3]) {
    call.call->detail(call.call, "option", "kernel_shape");
    text << "The attribute \"kernel_shape\" of Conv differs from its weights, which have the shape ";
    return invalid(call, text.shape(4, weights.shape) << ".");
  }
  if (conv.group < 1 || conv.channels % conv.group != 0 || conv.features % conv.group != 0 ||
      weights.shape[1] != conv.channels / conv.group) {
    text << "Conv in " << conv.group << " groups cannot apply weights of shape ";
    text.shape(4, weights.shape) << " to an image of shape ";
    return invalid(call, text.shape(4, image.shape) << ".");
  }
  if (call.input_count == 3 && (call.inputs[2]->ndim != 1 || call.inputs[2]->shape[0] != conv.features)) {
    text << "Conv needs one bias for each of its " << conv.features << " features, not the shape ";
    return invalid(call, text.shape(call.inputs[2]->ndim, call.inputs[2]->shape) << ".");
  }
  for (size_t i = 0; i < 2; i++) {
    conv.axes[i] = {
        image.shape[i + 2], weights.shape[i + 2], strides.values[i], dilations.values[i], 0, 0, 0};
    // An image without elements may have any extent; the following computation adds less than 2^62 to it and
    // multiplies.
    if (image.shape[i + 2] > INT64_MAX / 4) {
      return invalid(call, (text << "Conv has an image of shape ").shape(4, image.shape)
                               << ", which is larger than it supports.");
    }
    if (weights.shape[i + 2] < 1 || weights.shape[i + 2] > INT32_MAX) {
      return invalid(call, (text << "Conv has weights of shape ").shape(4, weights.shape) << ".");
    }
  }
  return read_padding(call, conv);
}

// Fills `to` with the patches of result pixels first .. first + count; its row r belongs to weight r.
void gather(const Convolution& conv, const float* image, int64_t channels, int64_t first, int64_t count,
            float* to) {
  const Axis &y = conv.axes[0], &x = conv.axes[1];
  for (int64_t channel = 0; channel < channels; channel++, image += y.in * x.in) {
    for (int64_t ky = 0; ky < y.kernel; ky++) {
      for (int64_t kx = 0; kx < x.kernel; kx++) {
        int64_t row = first / x.out, column = first % x.out;
        for (int64_t left = count; left > 0; row++, column = 0) {
          int64_t here = x.out - column < left ? x.out - column : left;
          int64_t from_y = row * y.stride - y.before + ky * y.dilation;
          int64_t from_x = column * x.stride - x.before + kx * x.dilation;
          bool outside = from_y < 0 || from_y >= y.in;
          const float* line = outside ? image : image + from_y * x.in;
          for (int64_t i = 0; i < here; i++, from_x += x.stride) {
            *to++ = outside || from_x < 0 || from_x >= x.in ? 0.0f : line[from_x];
          }
          left -= here;
        }
      }
    }
  }
}

}  // namespace

engine_status convolution(const OperationCall& call) {
  static constexpr const char* known[] = {"auto_pad", "dilations", "group", "kernel_shape",
                                          "pads",     "strides",   nullptr};
  if (engine_status status = call.attributes.allow(call.name, known, call.call)) return status;
  Convolution conv;
  if (engine_status status = read(call, conv)) return status;
  const Axis &y = conv.axes[0], &x = conv.axes[1];
  int64_t shape[4] = {conv.batch, conv.features, y.out, x.out};
  float* out = nullptr;
  if (engine_status status = reserve(call, 4, shape, out)) return status;
  if (element_count(4, shape) == 0) return ENGINE_OK;

  int64_t pixels = y.out * x.out, group_channels = conv.channels / conv.group;
  int64_t group_features = conv.features / conv.group;
  auto depth = static_cast<size_t>(group_channels * y.kernel * x.kernel);
  size_t most = depth == 0 ? static_cast<size_t>(pixels) : patch_room / depth;
  if (most < 64) most = 64;
  if (most > static_cast<size_t>(pixels)) most = static_cast<size_t>(pixels);
  auto* patches = static_cast<float*>(std::malloc((depth * most + 1) * sizeof(float)));
  if (patches == nullptr) {
    return refuse(call.call, ENGINE_NO_MEMORY, "reference",
                  Text{} << "There is no memory for the patches of Conv.");
  }
  const float* image = data_of<const float>(*call.inputs[0]);
  const float* weights = data_of<const float>(*call.inputs[1]);
  const float* bias = call.input_count == 3 ? data_of<const float>(*call.inputs[2]) : nullptr;
  auto features = static_cast<size_t>(group_features), plane = static_cast<size_t>(pixels);
  Progress progress(call.call, "compute",
                    gemm_work(features, plane, depth) * static_cast<uint64_t>(conv.batch * conv.group));
  engine_status status = ENGINE_OK;
  for (int64_t i = 0; i < conv.batch * conv.group && status == ENGINE_OK; i++) {
    int64_t group = i % conv.group;
    const float* from = image + i * group_channels * y.in * x.in;
    float* to = out + i * group_features * pixels;
    for (size_t first = 0; first < plane && status == ENGINE_OK; first += most) {
      size_t count = plane - first < most ? plane - first : most;
      gather(conv, from, group_channels, static_cast<int64_t>(first), static_cast<int64_t>(count), patches);
      status = gemm(call.kernels, features, count, depth,
                    {weights + static_cast<size_t>(group) * features * depth, depth}, {patches, count},
                    to + first, plane, progress);
    }
    for (int64_t f = 0; f < group_features && bias != nullptr; f++) {
      call.kernels.add(to + f * pixels, bias + group * group_features + f, to + f * pixels, plane,
                       Operand::right_scalar, false);
    }
  }
  std::free(patches);
  return status;
}

}  // namespace enginehost::engines::reference
