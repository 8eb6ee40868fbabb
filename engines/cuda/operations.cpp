// engine.op/1: runs one operation by its ONNX name on the device of its inputs. Inputs in host memory are
// copied to a device and the result back; the copies are reported as the stages "upload" and "download".
#include "engines/cuda/operation.hpp"
#include "engines/cuda/tensors.hpp"

namespace enginehost::engines::cuda {
namespace {

constexpr Operation known[] = {
    {"Add", 2, 2, prepare_add},
    {"Conv", 2, 3, prepare_convolution},
    {"MatMul", 2, 2, prepare_matrix_product},
    {"Mul", 2, 2, prepare_multiply},
    {"Relu", 1, 1, prepare_relu},
    {"Softmax", 1, 1, prepare_softmax},
};
constexpr engine_dtype float32 = {ENGINE_FLOAT, 32, 1};

Failure refused(const char* operation, engine_status status, std::string message) {
  return {status, std::move(message), "", 0, {{"operation", operation}}};
}

const Operation& find(const char* name) {
  std::string names;
  for (const Operation& one : known) {
    if (std::strcmp(one.name, name) == 0) return one;
    names.append(names.empty() ? "" : ", ").append(one.name);
  }
  throw refused(name, ENGINE_UNSUPPORTED,
                std::string("The CUDA engine has no operation \"") + name + "\"; it has " + names + ".");
}

std::string text_of(engine_device device) {
  Text text;
  return text.device(device).c_str();
}

bool together(engine_device a, engine_device b) {
  if (in_host_memory(a) || in_host_memory(b)) return in_host_memory(a) && in_host_memory(b);
  auto on_cuda = [](engine_device one) { return one.type == ENGINE_CUDA || one.type == ENGINE_CUDA_MANAGED; };
  return a.index == b.index && (a.type == b.type || (on_cuda(a) && on_cuda(b)));
}

std::vector<Shape> look_at(const Operation& operation, const engine_tensor* const* inputs, size_t count) {
  if (count < operation.least || count > operation.most) {
    throw refused(operation.name, ENGINE_INVALID,
                  std::string(operation.name) + " takes " + std::to_string(operation.least) +
                      (operation.least == operation.most ? "" : " to " + std::to_string(operation.most)) +
                      " inputs, and " + std::to_string(count) + " were given.");
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < count; i++) {
    const engine_tensor& input = *inputs[i];
    std::string title = "Input " + std::to_string(i) + " of " + operation.name + " ";
    Text type, why;
    if (!is_float32(input.dtype)) {
      throw refused(operation.name, ENGINE_UNSUPPORTED,
                    title + "is " + type.type(input.dtype).c_str() + "; this engine computes with float32.");
    }
    if (!check_tensor(input, why)) throw refused(operation.name, ENGINE_INVALID, title + why.c_str() + ".");
    if (!together(inputs[0]->device, input.device)) {
      throw refused(operation.name, ENGINE_INVALID,
                    std::string("The inputs of ") + operation.name + " live on " +
                        text_of(inputs[0]->device) + " and " + text_of(input.device) +
                        "; copy them to one device first.");
    }
    shapes.emplace_back(input.shape, input.shape + input.ndim);
  }
  return shapes;
}

struct Released {
  void operator()(engine_owned_tensor* tensor) const { tensor->release(tensor); }
};
using Owned = std::unique_ptr<engine_owned_tensor, Released>;

// The inputs in memory of the device.
struct Inputs {
  std::vector<const float*> data;
  std::vector<Buffer> copies;
};

Inputs bring(const engine_tensor* const* inputs, const std::vector<Shape>& shapes, bool on_host,
             Session& session, engine_call* call) {
  Inputs out;
  uint64_t total = 0, done = 0;
  for (const Shape& shape : shapes) total += static_cast<uint64_t>(elements_of(shape)) * sizeof(float);
  for (size_t i = 0; i < shapes.size(); i++) {
    const float* data = data_of<const float>(*inputs[i]);
    if (on_host) {
      const size_t bytes = static_cast<size_t>(elements_of(shapes[i])) * sizeof(float);
      const Buffer& copy = out.copies.emplace_back(bytes, session.device());
      if (bytes != 0) {
        check(cudaMemcpyAsync(copy.data(), data, bytes, cudaMemcpyHostToDevice, session.stream()),
              "cudaMemcpyAsync", session.device());
      }
      done += bytes;
      call->progress(call, done, total, "upload");
      data = copy.floats();
    }
    out.data.push_back(data);
  }
  return out;
}

// The destination of the result: the host's own memory if it offers some, else a tensor that the host keeps.
struct Result {
  Owned owned;
  float* data = nullptr;
  bool placed = false, on_host = false;
};

Result reserve(const Shape& shape, bool on_host, int device, engine_results* results) {
  engine_tensor like = {nullptr,
                        {on_host ? ENGINE_CPU : ENGINE_CUDA, on_host ? 0 : device},
                        static_cast<int32_t>(shape.size()),
                        float32,
                        shape.data(),
                        nullptr,
                        0};
  Result out;
  out.on_host = on_host;
  if (const engine_tensor* placed = results->place(results, 0, nullptr, &like)) {
    out.data = data_of<float>(*placed);
    out.placed = true;
    out.on_host = in_host_memory(placed->device);
    return out;
  }
  if (on_host) {
    out.owned.reset(make_host_tensor(float32, like.ndim, like.shape));
    if (out.owned == nullptr) throw std::bad_alloc();
  } else {
    out.owned.reset(wrap(Buffer(byte_count(float32, like.ndim, like.shape), device), like, device));
  }
  out.data = data_of<float>(out.owned->tensor);
  return out;
}

engine_status run_operation(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t input_count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) noexcept {
  return catch_all(call, [&] {
    run_operation_on(engine, name, inputs, input_count, attributes, attribute_count, results, call);
  });
}

}  // namespace

const engine_op_v1 operation_table = {run_operation};

void run_operation_on(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                      size_t input_count, const engine_entry* attributes, size_t attribute_count,
                      engine_results* results, engine_call* call) {
  const Operation& operation = find(name);
  const std::vector<Shape> shapes = look_at(operation, inputs, input_count);
  const std::unique_ptr<Job> job =
      operation.prepare(shapes, Attributes(operation.name, attributes, attribute_count, call));
  Text why;
  if (!check_shape(float32, static_cast<int32_t>(job->shape.size()), job->shape.data(), why)) {
    throw refused(name, ENGINE_INVALID, std::string("The result of ") + name + " " + why.c_str() + ".");
  }
  const bool on_host = in_host_memory(inputs[0]->device);
  const int device = index_of(
      on_host ? engine_device{ENGINE_CUDA, engine->settings.device} : inputs[0]->device, engine->devices);
  if (call->is_cancelled(call) != 0)
    throw Failure{ENGINE_CANCELLED, "The operation was stopped before it began."};
  OnDevice here(device);
  Session& session = session_on(device, engine);
  const Inputs ready = bring(inputs, shapes, on_host, session, call);
  const size_t bytes = static_cast<size_t>(elements_of(job->shape)) * sizeof(float);
  Result result = reserve(job->shape, on_host, device, results);
  Buffer computed(result.on_host ? bytes : 0, device);
  if (bytes != 0) {
    job->run(session, ready.data, result.on_host ? computed.floats() : result.data);
    if (result.on_host) {
      session.finish();
      call->progress(call, 0, bytes, "download");
      check(cudaMemcpyAsync(result.data, computed.data(), bytes, cudaMemcpyDeviceToHost, session.stream()),
            "cudaMemcpyAsync", device);
    }
  }
  session.finish();
  if (result.on_host) call->progress(call, bytes, bytes, "download");
  if (call->is_cancelled(call) != 0) throw Failure{ENGINE_CANCELLED, "The operation was stopped."};
  if (!result.placed) results->give(results, 0, nullptr, result.owned.release());
}

}  // namespace enginehost::engines::cuda
