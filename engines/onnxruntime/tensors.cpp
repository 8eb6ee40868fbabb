#include "engines/onnxruntime/tensors.hpp"

#include <vector>

namespace enginehost::engines::onnxruntime {
namespace {

// ONNX's TensorProto.DataType, which the C API uses too.
struct TypePair {
  int ort;
  engine_dtype type;
};
constexpr TypePair types[] = {
    {1, {ENGINE_FLOAT, 32, 1}},   {2, {ENGINE_UINT, 8, 1}},      {3, {ENGINE_INT, 8, 1}},
    {4, {ENGINE_UINT, 16, 1}},    {5, {ENGINE_INT, 16, 1}},      {6, {ENGINE_INT, 32, 1}},
    {7, {ENGINE_INT, 64, 1}},     {8, {ENGINE_STRING, 128, 1}},  {9, {ENGINE_BOOL, 8, 1}},
    {10, {ENGINE_FLOAT, 16, 1}},  {11, {ENGINE_FLOAT, 64, 1}},   {12, {ENGINE_UINT, 32, 1}},
    {13, {ENGINE_UINT, 64, 1}},   {14, {ENGINE_COMPLEX, 64, 1}}, {15, {ENGINE_COMPLEX, 128, 1}},
    {16, {ENGINE_BFLOAT, 16, 1}},
};

struct WrappedValue : engine_owned_tensor {
  std::shared_ptr<Runtime> runtime;
  OrtValue* value = nullptr;  // not for strings
  std::vector<int64_t> sizes;
  std::vector<engine_string> strings;
  std::vector<char> text;
};

void release_wrapped(engine_owned_tensor* self) noexcept {
  auto* wrapped = static_cast<WrappedValue*>(self);
  if (wrapped->value != nullptr) api::release_value(wrapped->runtime->table(), wrapped->value);
  delete wrapped;
}

void take_strings(const Runtime& runtime, const OrtValue* value, WrappedValue& out) {
  size_t count = element_count(out.tensor.ndim, out.tensor.shape), bytes = 0;
  runtime.check(api::string_bytes(runtime.table(), value, &bytes), ENGINE_INTERNAL);
  std::vector<size_t> starts(count + 1);
  out.text.resize(bytes + 1);
  runtime.check(api::string_content(runtime.table(), value, out.text.data(), bytes, starts.data(), count),
                ENGINE_INTERNAL);
  starts[count] = bytes;
  for (size_t i = 0; i < count; i++)
    out.strings.push_back({out.text.data() + starts[i], starts[i + 1] - starts[i]});
  out.tensor.data = out.strings.data();
}

HeldValue copy_strings(const Runtime& runtime, const engine_tensor& tensor, const char* name,
                       const int64_t* sizes) {
  HeldValue value(runtime);
  const auto* strings = data_of<const engine_string>(tensor);
  size_t count = element_count(tensor.ndim, tensor.shape);
  std::vector<std::string> copies;
  std::vector<const char*> pointers;
  for (size_t i = 0; i < count; i++) {
    copies.emplace_back(strings[i].data == nullptr ? "" : strings[i].data, strings[i].length);
    if (copies.back().find('\0') != std::string::npos) {
      throw Failure{ENGINE_INVALID, std::string("A string of \"") + name +
                                        "\" holds a zero byte, which ONNX Runtime's C API cannot take."};
    }
  }
  for (const std::string& copy : copies) pointers.push_back(copy.c_str());
  runtime.check(api::create_tensor(runtime.table(), runtime.allocator(), sizes,
                                   static_cast<size_t>(tensor.ndim), ort_string, value.out()),
                ENGINE_NO_MEMORY);
  if (count > 0) {
    runtime.check(api::fill_strings(runtime.table(), value.get(), pointers.data(), count), ENGINE_INVALID);
  }
  return value;
}

}  // namespace

int to_ort_type(engine_dtype type) {
  for (const TypePair& pair : types) {
    if (same_type(pair.type, type)) return pair.ort;
  }
  return 0;
}

engine_dtype from_ort_type(int type) {
  for (const TypePair& pair : types) {
    if (pair.ort == type) return pair.type;
  }
  return {0, 0, 1};
}

HeldValue borrow(const Runtime& runtime, const engine_tensor& tensor, const char* name, engine_call* call) {
  auto refuse = [&](engine_status status, const Text& text) {
    call->detail(call, "input", name);
    return Failure{status, text.c_str()};
  };
  Text why, text;
  text << "\"" << name << "\" ";
  if (!in_host_memory(tensor.device)) {
    throw refuse(ENGINE_INVALID, (text << "is on ").device(tensor.device)
                                     << "; this build computes on cpu:0.");
  }
  if (!check_tensor(tensor, why)) throw refuse(ENGINE_INVALID, text << why.c_str() << ".");
  int type = to_ort_type(tensor.dtype);
  if (type == 0) {
    throw refuse(ENGINE_UNSUPPORTED, (text << "is of the type ").type(tensor.dtype)
                                         << ", which ONNX Runtime does not have.");
  }
  static constexpr int64_t no_size = 0;
  const int64_t* sizes = tensor.ndim > 0 ? tensor.shape : &no_size;
  if (type == ort_string) return copy_strings(runtime, tensor, name, sizes);
  HeldValue value(runtime);
  static char nothing[64];  // for a tensor without elements, which may have no data
  void* data = tensor.data == nullptr ? nothing : data_of<void>(tensor);
  runtime.check(api::create_tensor_over(runtime.table(), runtime.host_memory(), data,
                                        byte_count(tensor.dtype, tensor.ndim, tensor.shape), sizes,
                                        static_cast<size_t>(tensor.ndim), type, value.out()),
                ENGINE_INVALID);
  return value;
}

engine_owned_tensor* wrap(const std::shared_ptr<Runtime>& runtime, HeldValue value, const char* name) {
  void* const* table = runtime->table();
  HeldTensorInfo info(*runtime);
  runtime->check(api::info_of_tensor(table, value.get(), info.out()), ENGINE_INTERNAL);
  size_t rank = 0;
  int type = 0;
  runtime->check(api::rank(table, info.get(), &rank), ENGINE_INTERNAL);
  runtime->check(api::element_type(table, info.get(), &type), ENGINE_INTERNAL);
  engine_dtype dtype = from_ort_type(type);
  if (dtype.bits == 0) {
    throw Failure{ENGINE_UNSUPPORTED, std::string("Output \"") + name + "\" has ONNX's element type " +
                                          std::to_string(type) + ", for which the plugin ABI has no name."};
  }
  std::unique_ptr<WrappedValue, void (*)(engine_owned_tensor*)> out(new WrappedValue(), release_wrapped);
  out->major = ENGINE_DLPACK_MAJOR;
  out->minor = ENGINE_DLPACK_MINOR;
  out->release = release_wrapped;
  out->runtime = runtime;
  out->sizes.resize(rank);
  if (rank > 0) runtime->check(api::sizes(table, info.get(), out->sizes.data(), rank), ENGINE_INTERNAL);
  out->tensor = {nullptr, {ENGINE_CPU, 0}, static_cast<int32_t>(rank), dtype, out->sizes.data(), nullptr, 0};
  if (type == ort_string) {
    take_strings(*runtime, value.get(), *out);
  } else {
    runtime->check(api::tensor_data(table, value.get(), &out->tensor.data), ENGINE_INTERNAL);
    out->value = value.leave();
  }
  return out.release();
}

}  // namespace enginehost::engines::onnxruntime
