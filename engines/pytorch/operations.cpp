// engine.op/1: operations under their ONNX names, computed by ATen.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "engines/pytorch/attributes.hpp"
#include "engines/pytorch/results.hpp"
#include "engines/pytorch/tensors.hpp"
#include "engines/support/onnx_rules.hpp"
#include "engines/support/tensor.hpp"
#include "engines/support/text.hpp"

namespace enginehost::engines::pytorch {
namespace {

using Inputs = std::vector<at::Tensor>;
using Compute = at::Tensor (*)(const Inputs&, const Attributes&);

struct Operation {
  const char* name;
  size_t least, most;  // inputs
  Compute compute;
};

at::Tensor softmax(const Inputs& in, const Attributes& attributes) {
  attributes.allow({"axis"});
  return at::softmax(in[0], attributes.integer("axis", -1));
}

// ONNX's Gemm: alpha A' B' + beta C, with alpha and beta fixed at 1 (they would be floats in text).
at::Tensor gemm(const Inputs& in, const Attributes& attributes) {
  attributes.allow({"transA", "transB"});
  at::Tensor left = attributes.integer("transA", 0) != 0 ? in[0].t() : in[0];
  at::Tensor right = attributes.integer("transB", 0) != 0 ? in[1].t() : in[1];
  at::Tensor out = at::mm(left, right);
  return in.size() == 3 ? out + in[2] : out;
}

// ONNX lists the pads before all axes and then those after all axes; ATen's convolution pads both sides
// equally.
at::Tensor convolution(const Inputs& in, const Attributes& attributes) {
  attributes.allow({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
  const char* automatic = attributes.text("auto_pad");
  if (automatic != nullptr && std::strcmp(automatic, "NOTSET") != 0) {
    throw Failure{ENGINE_UNSUPPORTED, std::string("Conv with auto_pad ") + automatic +
                                          " is not computed by this adapter; give pads."};
  }
  TORCH_CHECK(in[0].dim() >= 3 && in[0].dim() <= 5, "Conv takes 1 to 3 spatial axes, not ", in[0].dim() - 2);
  auto axes = static_cast<size_t>(in[0].dim() - 2);
  std::vector<int64_t> strides = attributes.integers("strides", std::vector<int64_t>(axes, 1), axes);
  std::vector<int64_t> dilations = attributes.integers("dilations", std::vector<int64_t>(axes, 1), axes);
  std::vector<int64_t> pads = attributes.integers("pads", std::vector<int64_t>(2 * axes, 0), 2 * axes);
  std::vector<int64_t> both(axes), extra;  // `extra`: before and after, the last axis first
  for (size_t i = 0; i < axes; i++) both[i] = std::min(pads[i], pads[axes + i]);
  for (size_t i = axes; i-- > 0;) {
    extra.push_back(pads[i] - both[i]);
    extra.push_back(pads[axes + i] - both[i]);
  }
  at::Tensor data = in[0];
  if (data.size(1) == 0 || in[1].size(0) == 0) {
    throw Failure{ENGINE_UNSUPPORTED,
                  "Conv without channels or without features is not computed by this adapter: ATen refuses "
                  "the one and gives "
                  "the other a wrong shape."};
  }
  if (std::any_of(extra.begin(), extra.end(), [](int64_t one) { return one != 0; }))
    data = at::constant_pad_nd(data, extra, 0);
  c10::optional<at::Tensor> bias;
  if (in.size() == 3) bias = in[2];
  return at::convolution(data, in[1], bias, strides, both, dilations, false, std::vector<int64_t>(axes, 0),
                         attributes.integer("group", 1));
}

template <at::Tensor (*Function)(const at::Tensor&)>
at::Tensor unary(const Inputs& in, const Attributes& attributes) {
  attributes.allow({});
  return Function(in[0]);
}
template <at::Tensor (*Function)(const at::Tensor&, const at::Tensor&)>
at::Tensor binary(const Inputs& in, const Attributes& attributes) {
  attributes.allow({});
  return Function(in[0], in[1]);
}

at::Tensor add(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor subtract(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }
at::Tensor multiply(const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }
// ONNX divides integers towards zero.
at::Tensor divide(const at::Tensor& a, const at::Tensor& b) {
  bool whole = at::isIntegralType(a.scalar_type(), true);
  return whole ? at::div(a, b, "trunc") : at::div(a, b);
}
at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b); }
at::Tensor relu(const at::Tensor& a) { return at::relu(a); }
at::Tensor sigmoid(const at::Tensor& a) { return at::sigmoid(a); }
at::Tensor hyperbolic_tangent(const at::Tensor& a) { return at::tanh(a); }
at::Tensor exponential(const at::Tensor& a) { return at::exp(a); }
at::Tensor square_root(const at::Tensor& a) { return at::sqrt(a); }

constexpr Operation known[] = {
    {"Add", 2, 2, binary<add>},
    {"Conv", 2, 3, convolution},
    {"Div", 2, 2, binary<divide>},
    {"Exp", 1, 1, unary<exponential>},
    {"Gemm", 2, 3, gemm},
    {"MatMul", 2, 2, binary<matrix_product>},
    {"Mul", 2, 2, binary<multiply>},
    {"Relu", 1, 1, unary<relu>},
    {"Sigmoid", 1, 1, unary<sigmoid>},
    {"Softmax", 1, 1, softmax},
    {"Sqrt", 1, 1, unary<square_root>},
    {"Sub", 2, 2, binary<subtract>},
    {"Tanh", 1, 1, unary<hyperbolic_tangent>},
};

const Operation& find(const char* name, engine_call* call) {
  std::string names;
  for (const Operation& one : known) {
    if (std::strcmp(one.name, name) == 0) return one;
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  call->detail(call, "operation", name);
  throw Failure{ENGINE_UNSUPPORTED,
                std::string("This adapter has no operation \"") + name + "\"; it has " + names + "."};
}

// One of them may be a device that this build lacks, so nothing is borrowed before.
void check_devices(const char* name, const engine_tensor* const* inputs, size_t input_count) {
  for (size_t i = 1; i < input_count; i++) {
    const engine_device one = inputs[0]->device, other = inputs[i]->device;
    if (in_host_memory(one) && in_host_memory(other)) continue;
    if (one.type == other.type && one.index == other.index) continue;
    Text text;
    text << "The inputs of " << name << " live on ";
    text.device(one) << " and ";
    text.device(other) << "; copy them to one device first.";
    throw Failure{ENGINE_INVALID, text.c_str()};
  }
}

engine_status run_operation(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t input_count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) noexcept {
  return catch_all(call, ENGINE_INVALID, [&] {
    const Operation& operation = find(name, call);
    if (input_count < operation.least || input_count > operation.most) {
      call->detail(call, "operation", name);
      throw Failure{ENGINE_INVALID,
                    std::string(name) + " takes " + std::to_string(operation.least) +
                        (operation.least == operation.most ? "" : " or " + std::to_string(operation.most)) +
                        " inputs, not " + std::to_string(input_count) + "."};
    }
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The operation was stopped before it began."};
    check_devices(name, inputs, input_count);
    c10::InferenceMode guard;
    Inputs borrowed;
    for (size_t i = 0; i < input_count; i++) {
      std::string input = "input " + std::to_string(i) + " of " + name;
      borrowed.push_back(borrow(*inputs[i], input.c_str(), engine, call));
    }
    const Attributes given(name, attributes, attribute_count, call);
    check_onnx_rules(name, inputs, input_count, given);
    at::Tensor out = operation.compute(borrowed, given);
    if (call->is_cancelled(call) != 0) throw Failure{ENGINE_CANCELLED, "The operation was stopped."};
    ResultWriter writer(results, c10::nullopt, borrowed);
    writer.give(0, "", std::move(out));
  });
}

}  // namespace

const engine_op_v1 operation_table = {run_operation};

}  // namespace enginehost::engines::pytorch
