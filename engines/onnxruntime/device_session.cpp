#include "engines/onnxruntime/device_session.hpp"

#include "engines/onnxruntime/provider.hpp"
#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

const std::string cuda_provider = "CUDAExecutionProvider";

void compute_on_cuda(const Runtime& runtime, OrtSessionOptions* options, int32_t index, engine_call* call) {
  void* const* table = runtime.table();
  HeldCudaOptions cuda(runtime);
  runtime.check(api::create_cuda_options(table, cuda.out()), ENGINE_UNAVAILABLE);
  const std::string number = std::to_string(index);
  const char *key = "device_id", *value = number.c_str();
  // The first call loads the provider, so its error contains the reason if loading fails.
  auto failed = runtime.failure(api::update_cuda_options(table, cuda.get(), &key, &value, 1), ENGINE_INVALID);
  if (failed == nullptr)
    failed = runtime.failure(api::append_cuda(table, options, cuda.get()), ENGINE_UNAVAILABLE);
  if (failed != nullptr) {
    const std::string words = loader_words(failed->message);
    report_missing_library(words, call);
    call->detail(call, "provider", cuda_provider.c_str());
    throw Failure{ENGINE_UNAVAILABLE,
                  "cuda:" + number + " is not available: " + provider_name + " cannot be used: " + words,
                  failed->native};
  }
}

}  // namespace

void compute_on(engine_instance& engine, OrtSessionOptions* options, engine_device device,
                engine_call* call) {
  const Runtime& runtime = *engine.runtime;
  if (device.type == ENGINE_CUDA)
    compute_on_cuda(runtime, options, device.index, call);
  else
    compute_on_provider(engine, options, device.index, call);
  runtime.check(api::add_session_setting(runtime.table(), options, no_cpu_fallback, "1"), ENGINE_INTERNAL);
}

void report_placement(engine_model& model, engine_call* call) {
  if (model.placement == nullptr || model.placement_reported.exchange(true)) return;
  const std::map<std::string, int> nodes = model.placement->end(*model.engine->runtime, model.session.get());
  std::string text;
  int all = 0, on_device = 0;
  const std::string& requested =
      model.device.type == ENGINE_CUDA ? cuda_provider : model.engine->provider.name;
  for (const auto& [provider, count] : nodes) {
    text += (text.empty() ? "" : ", ") + provider + " " + std::to_string(count);
    all += count;
    if (provider == requested) on_device += count;
  }
  if (text.empty()) text = "unknown: the runtime wrote no readable profile";
  call->detail(call, "placement", text.c_str());
  const std::string device = name_of(*model.engine, model.device);
  const engine_host* host = model.engine->host;
  const bool elsewhere = model.device.type != ENGINE_CPU && on_device < all;
  const std::string message = "Nodes of the model on " + device + ": " + text + ".";
  if (elsewhere && !model.may_fall_back) {
    call->detail(call, "device", device.c_str());
    throw Failure{ENGINE_INTERNAL, device + " was requested and did not compute all nodes: " + text + "."};
  }
  const int32_t level = elsewhere ? ENGINE_LOG_WARNING : ENGINE_LOG_INFO;
  if (level >= host->log_level) host->log(host, level, "placement", message.c_str());
}

}  // namespace enginehost::engines::onnxruntime
