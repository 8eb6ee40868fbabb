#include "engines/tensorflow/tensors.hpp"

#include <vector>

namespace enginehost::engines::tensorflow {
namespace {

// tensorflow/core/framework/types.proto
struct TypePair {
  int tensorflow;
  engine_dtype type;
};
constexpr TypePair types[] = {
    {1, {ENGINE_FLOAT, 32, 1}},     {2, {ENGINE_FLOAT, 64, 1}},   {3, {ENGINE_INT, 32, 1}},
    {4, {ENGINE_UINT, 8, 1}},       {5, {ENGINE_INT, 16, 1}},     {6, {ENGINE_INT, 8, 1}},
    {7, {ENGINE_STRING, 128, 1}},   {8, {ENGINE_COMPLEX, 64, 1}}, {9, {ENGINE_INT, 64, 1}},
    {10, {ENGINE_BOOL, 8, 1}},      {14, {ENGINE_BFLOAT, 16, 1}}, {17, {ENGINE_UINT, 16, 1}},
    {18, {ENGINE_COMPLEX, 128, 1}}, {19, {ENGINE_FLOAT, 16, 1}},  {22, {ENGINE_UINT, 32, 1}},
    {23, {ENGINE_UINT, 64, 1}},
};

void keep_callers_memory(void*, size_t, void*) {}

// Owns the text of a string tensor. TensorFlow frees the array through this object and does not free the
// elements' contents.
struct Strings {
  explicit Strings(const Runtime& owner) : runtime(owner) {}
  ~Strings() {
    for (TF_String& one : all) runtime->TF_StringDealloc(&one);
  }
  Strings(const Strings&) = delete;
  Strings& operator=(const Strings&) = delete;
  const Runtime& runtime;
  std::vector<TF_String> all;
};
void free_strings(void*, size_t, void* strings) { delete static_cast<Strings*>(strings); }

TF_Tensor* copy_strings(const Runtime& runtime, const engine_tensor& tensor) {
  const auto* texts = data_of<const engine_string>(tensor);
  auto strings = std::make_unique<Strings>(runtime);
  const size_t count = element_count(tensor.ndim, tensor.shape);
  strings->all.reserve(count + 1);  // one more, so that there is an address even without elements
  for (size_t i = 0; i < count; i++) {
    runtime->TF_StringInit(&strings->all.emplace_back());
    runtime->TF_StringCopy(&strings->all.back(), texts[i].data == nullptr ? "" : texts[i].data,
                           static_cast<size_t>(texts[i].length));
  }
  void* data = strings->all.data();
  return runtime->TF_NewTensor(tf_string, tensor.shape, tensor.ndim, data, count * sizeof(TF_String),
                               free_strings, strings.release());
}

struct WrappedTensor : engine_owned_tensor {
  std::shared_ptr<Runtime> runtime;
  TF_Tensor* value = nullptr;  // not for text
  std::vector<int64_t> sizes;
  std::vector<engine_string> strings;
  std::vector<char> text;
};

void release_wrapped(engine_owned_tensor* self) noexcept {
  auto* wrapped = static_cast<WrappedTensor*>(self);
  if (wrapped->value != nullptr) (*wrapped->runtime)->TF_DeleteTensor(wrapped->value);
  delete wrapped;
}

void take_strings(const Runtime& runtime, TF_Tensor* value, WrappedTensor& out) {
  const auto* elements = static_cast<const TF_String*>(runtime->TF_TensorData(value));
  const size_t count = element_count(out.tensor.ndim, out.tensor.shape);
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++) bytes += runtime->TF_StringGetSize(&elements[i]);
  out.text.reserve(bytes + 1);
  for (size_t i = 0; i < count; i++) {
    const char* begin = runtime->TF_StringGetDataPointer(&elements[i]);
    const size_t length = runtime->TF_StringGetSize(&elements[i]);
    out.strings.push_back({out.text.data() + out.text.size(), length});
    out.text.insert(out.text.end(), begin, begin + length);
  }
  out.tensor.data = out.strings.data();
}

}  // namespace

int to_tensorflow_type(engine_dtype type) {
  for (const TypePair& pair : types) {
    if (same_type(pair.type, type)) return pair.tensorflow;
  }
  return 0;
}

engine_dtype from_tensorflow_type(int type) {
  for (const TypePair& pair : types) {
    if (pair.tensorflow == type) return pair.type;
  }
  return {0, 0, 1};
}

HeldTensor hand_in(const std::shared_ptr<Runtime>& runtime, const engine_tensor& tensor, const char* name,
                   bool copied, engine_call* call) {
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
  const int type = to_tensorflow_type(tensor.dtype);
  if (type == 0) {
    throw refuse(ENGINE_UNSUPPORTED, (text << "is of the type ").type(tensor.dtype)
                                         << ", which TensorFlow does not have.");
  }
  TF_Tensor* made = nullptr;
  const size_t bytes = byte_count(tensor.dtype, tensor.ndim, tensor.shape);
  if (type == tf_string) {
    made = copy_strings(*runtime, tensor);
  } else if (copied || bytes == 0) {
    made = (*runtime)->TF_AllocateTensor(type, tensor.shape, tensor.ndim, bytes);
    if (made != nullptr && bytes > 0)
      std::memcpy((*runtime)->TF_TensorData(made), data_of<const void>(tensor), bytes);
  } else {
    // Where the memory begins at no multiple of 64 TensorFlow takes a copy by itself.
    made = (*runtime)->TF_NewTensor(type, tensor.shape, tensor.ndim, data_of<void>(tensor), bytes,
                                    keep_callers_memory, nullptr);
  }
  if (made == nullptr) throw Failure{ENGINE_NO_MEMORY, "TensorFlow has no memory for an input."};
  return {runtime, made};
}

void hand_out(HeldTensor value, uint32_t output, const char* name, engine_results* results) {
  const Runtime& runtime = *value.runtime();
  const int type = runtime->TF_TensorType(value.get());
  const engine_dtype dtype = from_tensorflow_type(type);
  if (dtype.bits == 0) {
    throw Failure{ENGINE_UNSUPPORTED, std::string("Output \"") + name + "\" has TensorFlow's element type " +
                                          std::to_string(type) + ", for which the plugin ABI has no name."};
  }
  std::unique_ptr<WrappedTensor, void (*)(engine_owned_tensor*)> out(new WrappedTensor(), release_wrapped);
  const int rank = runtime->TF_NumDims(value.get());
  for (int i = 0; i < rank; i++) out->sizes.push_back(runtime->TF_Dim(value.get(), i));
  out->major = ENGINE_DLPACK_MAJOR;
  out->minor = ENGINE_DLPACK_MINOR;
  out->release = release_wrapped;
  out->runtime = value.runtime();
  out->tensor = {nullptr, {ENGINE_CPU, 0}, rank, dtype, out->sizes.data(), nullptr, 0};
  if (type == tf_string) {
    take_strings(runtime, value.get(), *out);
    results->give(results, output, nullptr, out.release());
    return;
  }
  const size_t bytes = runtime->TF_TensorByteSize(value.get());
  if (bytes > 0 && runtime->TF_TensorMaybeMove(value.get()) != nullptr) {
    out->tensor.data = runtime->TF_TensorData(value.get());
    out->value = value.leave();
    results->give(results, output, nullptr, out.release());
    return;
  }
  // Something else holds this memory: the host gets a copy, in its own memory if it offers some.
  const engine_tensor* offered = results->place(results, output, nullptr, &out->tensor);
  if (offered != nullptr) {
    if (bytes > 0) std::memcpy(data_of<void>(*offered), runtime->TF_TensorData(value.get()), bytes);
    return;
  }
  engine_owned_tensor* copy = make_host_tensor(dtype, rank, out->sizes.data());
  if (copy == nullptr) throw Failure{ENGINE_NO_MEMORY, "There is no memory for a result."};
  if (bytes > 0) std::memcpy(copy->tensor.data, runtime->TF_TensorData(value.get()), bytes);
  results->give(results, output, nullptr, copy);
}

}  // namespace enginehost::engines::tensorflow
