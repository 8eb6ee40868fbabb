#include "engines/mxnet/predictor.hpp"

#include <limits>

namespace enginehost::engines::mxnet {
namespace {

struct TypePair {
  int mxnet;
  engine_dtype type;
};
constexpr TypePair types[] = {
    {0, {ENGINE_FLOAT, 32, 1}}, {1, {ENGINE_FLOAT, 64, 1}}, {2, {ENGINE_FLOAT, 16, 1}},
    {3, {ENGINE_UINT, 8, 1}},   {4, {ENGINE_INT, 32, 1}},   {5, {ENGINE_INT, 8, 1}},
    {6, {ENGINE_INT, 64, 1}},   {7, {ENGINE_BOOL, 8, 1}},
};

}  // namespace

int to_mxnet_type(engine_dtype type) {
  for (const TypePair& pair : types) {
    if (same_type(pair.type, type)) return pair.mxnet;
  }
  return -1;
}

engine_dtype from_mxnet_type(int type) {
  for (const TypePair& pair : types) {
    if (pair.mxnet == type) return pair.type;
  }
  return {0, 0, 1};
}

// The file format (NDArray::Save): a magic number, a reserved one, the number of arrays, the number of names;
// 8 bytes each.
std::string no_parameters() {
  std::string out(32, '\0');
  out[0] = 0x12;
  out[1] = 0x01;
  return out;
}

void check_tensor_of(const engine_tensor& tensor, const char* name, engine_call* call) {
  auto refuse = [&](engine_status status, const Text& text) {
    call->detail(call, "input", name);
    return Failure{status, text.c_str()};
  };
  Text why, text;
  text << "\"" << name << "\" ";
  if (!in_host_memory(tensor.device)) {
    throw refuse(ENGINE_INVALID, (text << "is on ").device(tensor.device)
                                     << "; this engine computes on cpu:0.");
  }
  if (!check_tensor(tensor, why)) throw refuse(ENGINE_INVALID, text << why.c_str() << ".");
  if (to_mxnet_type(tensor.dtype) >= 0) return;
  throw refuse(ENGINE_UNSUPPORTED, (text << "is of the type ").type(tensor.dtype)
                                       << ", which MXNet does not have.");
}

void check_input(const engine_tensor& tensor, const char* name, engine_call* call) {
  check_tensor_of(tensor, name, call);
  // 0 means "unknown" in MXNet's shapes, and its sizes have 32 bits.
  const size_t count = element_count(tensor.ndim, tensor.shape);
  if (tensor.ndim > 0 && count > 0 && count <= std::numeric_limits<uint32_t>::max()) return;
  Text text;
  call->detail(call, "input", name);
  text << "\"" << name << "\" has the shape ";
  text.shape(tensor.ndim, tensor.shape)
      << "; MXNet takes at least one axis, no size of 0 and fewer than 2^32 elements.";
  throw Failure{ENGINE_UNSUPPORTED, text.c_str()};
}

std::string Prepared::signature_of(const std::vector<GivenInput>& inputs) {
  std::string out;
  for (const GivenInput& input : inputs) {
    Text text;
    text.type(input.tensor->dtype);
    for (int32_t i = 0; i < input.tensor->ndim; i++) text << "," << input.tensor->shape[i];
    out += input.name + ":" + text.c_str() + ";";
  }
  return out;
}

Prepared::Prepared(std::shared_ptr<Runtime> runtime, engine_device device, const Network& network,
                   const std::vector<GivenInput>& inputs)
    : runtime_(std::move(runtime)), signature_(signature_of(inputs)) {
  std::vector<const char*> names;
  std::vector<uint32_t> starts(1), sizes;
  std::vector<int> types_of;
  for (const GivenInput& input : inputs) {
    names.push_back(input.name.c_str());
    for (int32_t i = 0; i < input.tensor->ndim; i++)
      sizes.push_back(static_cast<uint32_t>(input.tensor->shape[i]));
    starts.push_back(static_cast<uint32_t>(sizes.size()));
    types_of.push_back(to_mxnet_type(input.tensor->dtype));
  }
  const auto count = static_cast<uint32_t>(names.size());
  runtime_->check((*runtime_)->MXPredCreateEx(network.symbol.c_str(), network.parameters.data(),
                                              static_cast<int>(network.parameters.size()),
                                              device.type == ENGINE_CUDA ? gpu_device : cpu_device,
                                              device.index, count, names.data(), starts.data(), sizes.data(),
                                              count, names.data(), types_of.data(), &predictor_),
                  ENGINE_INVALID);
}

Prepared::~Prepared() {
  if (predictor_ != nullptr) (*runtime_)->MXPredFree(predictor_);
}

void Prepared::run(const std::vector<GivenInput>& inputs, size_t output_count, bool scalar,
                   engine_results* results, engine_call* call) const {
  if (call->is_cancelled(call) != 0) throw Failure{ENGINE_CANCELLED, "The run was stopped before it began."};
  for (const GivenInput& input : inputs) {
    const engine_tensor& tensor = *input.tensor;
    runtime_->check(
        (*runtime_)->MXPredSetInput(predictor_, input.name.c_str(), data_of<const float>(tensor),
                                    static_cast<uint32_t>(element_count(tensor.ndim, tensor.shape))),
        ENGINE_INVALID);
  }
  runtime_->check((*runtime_)->MXPredForward(predictor_), ENGINE_INVALID);
  if (call->is_cancelled(call) != 0) throw Failure{ENGINE_CANCELLED, "The run was stopped."};
  for (size_t i = 0; i < output_count; i++) give(static_cast<uint32_t>(i), scalar, results);
}

void Prepared::give(uint32_t output, bool scalar, engine_results* results) const {
  uint32_t* sizes = nullptr;
  uint32_t rank = 0;
  int type = 0;
  runtime_->check((*runtime_)->MXPredGetOutputShape(predictor_, output, &sizes, &rank), ENGINE_INTERNAL);
  runtime_->check((*runtime_)->MXPredGetOutputType(predictor_, output, &type), ENGINE_INTERNAL);
  const std::vector<int64_t> shape(sizes, sizes + (scalar ? 0 : rank));
  const engine_dtype dtype = from_mxnet_type(type);
  if (dtype.bits == 0) {
    throw Failure{ENGINE_UNSUPPORTED, "Output " + std::to_string(output) + " has MXNet's element type " +
                                          std::to_string(type) + ", for which the plugin ABI has no name."};
  }
  const auto ndim = static_cast<int32_t>(shape.size());
  const size_t count = element_count(ndim, shape.data());
  // A failed computation is reported when its result is fetched; memory that the host has placed by then
  // would count as a result.
  std::unique_ptr<engine_owned_tensor, void (*)(engine_owned_tensor*)> own(
      make_host_tensor(dtype, ndim, shape.data()),
      [](engine_owned_tensor* tensor) { tensor->release(tensor); });
  if (own == nullptr) throw Failure{ENGINE_NO_MEMORY, "There is no memory for a result."};
  auto* data = static_cast<float*>(own->tensor.data);
  runtime_->check((*runtime_)->MXPredGetOutput(predictor_, output, data, static_cast<uint32_t>(count)),
                  ENGINE_INTERNAL);
  results->give(results, output, nullptr, own.release());
}

}  // namespace enginehost::engines::mxnet
