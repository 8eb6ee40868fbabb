// Which device: the everyday questions of an application, over what its engine offers.
#include <enginehost/enginehost.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "host/load/in_process/call.hpp"
#include "host/sdk/handles.hpp"

namespace sdk = enginehost::sdk;
using enginehost::Diagnosis;
using enginehost::Result;
using enginehost::load::Device;

namespace {

bool is_accelerator(const Device& device) { return device.id.type != ENGINE_CPU; }

bool is_meant_by(const Device& device, std::string_view wanted) {
  return device.text() == wanted || device.kind == wanted || (wanted == "gpu" && is_accelerator(device)) ||
         (wanted == "cpu" && !is_accelerator(device));
}

// The first entry of the list that names something there; devices.size() when none does.
std::size_t first_of(const std::vector<Device>& devices, std::string_view wanted) {
  for (const std::string& entry : enginehost::split(wanted, ','))
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (is_meant_by(devices[i], enginehost::trim(entry))) return i;
  return devices.size();
}

// The nearest build with such devices that was not opened, and why: what the decision's document says of it.
std::string why_no_other_build(const enginehost::Json& report, std::string_view kind) {
  for (const enginehost::Json& candidate : report["candidates"].as_array()) {
    const std::string& flavor = candidate["flavor"].as_string();
    const bool meant = kind == "gpu"    ? flavor != "cpu"
                       : kind == "cuda" ? flavor.size() > 2 && flavor.starts_with("cu") && flavor[2] >= '0' &&
                                              flavor[2] <= '9'
                       : kind == "metal" || kind == "mps" ? flavor == "mps"
                                                          : flavor.starts_with(kind);
    if (!meant || candidate["diagnosis"].is_null()) continue;
    return candidate["build"].as_string() + ": " + candidate["diagnosis"]["code"].as_string() + " " +
           candidate["diagnosis"]["cause"].as_string();
  }
  return "";
}

Diagnosis not_there(std::string_view wanted, const enginehost_engine& engine) {
  Diagnosis missing = enginehost::diagnose("EH-S09");
  missing.with("device", wanted);
  for (const std::string& name : engine.shared->device_names()) missing.with("offered", name, "the engine");
  const std::string_view kind = wanted.substr(0, wanted.find_first_of(":,"));
  const auto report = enginehost::parse_json(engine.shared->report(), "report");
  if (!report) return missing;
  if (const std::string why = why_no_other_build(*report, kind); !why.empty())
    missing.with("other_build", why);
  // It hides devices from every library of NVIDIA's, and renumbers those that are left.
  const enginehost::Json& visible = (*report)["platform"]["cuda"]["visible_devices"]["value"];
  if (visible.is_string() && (kind == "cuda" || kind == "gpu"))
    missing.with("cuda_visible_devices", visible.as_string().empty() ? "\"\"" : visible.as_string(),
                 "environment");
  return missing;
}

// What an application that names no device gets.
std::size_t default_of(const enginehost_engine& engine) {
  const auto& devices = engine.shared->opened().devices;
  if (const std::size_t i = first_of(devices, engine.default_device); i < devices.size()) return i;
  if (const std::size_t i = first_of(devices, engine.shared->preferred_device()); i < devices.size())
    return i;
  const auto accelerator = std::find_if(devices.begin(), devices.end(), is_accelerator);
  return accelerator != devices.end() ? static_cast<std::size_t>(accelerator - devices.begin()) : 0;
}

Result<std::size_t> chosen(const enginehost_engine& engine, const char* wanted) {
  const auto& devices = engine.shared->opened().devices;
  if (wanted == nullptr && !devices.empty()) return default_of(engine);
  const std::size_t found = wanted != nullptr ? first_of(devices, wanted) : devices.size();
  if (found == devices.size()) return fail(not_there(wanted != nullptr ? wanted : "any", engine));
  return found;
}

bool in_host_memory(engine_device device) {
  return device.type == ENGINE_CPU || device.type == ENGINE_CUDA_HOST || device.type == ENGINE_ROCM_HOST;
}

bool is_there(engine_device from, engine_device to) {
  return (from.type == to.type && from.index == to.index) || (in_host_memory(from) && in_host_memory(to));
}

// Fills in what enginehost_engine_device() tells.
Result<void> tell(const enginehost_engine& engine, std::size_t number, enginehost_device* out) {
  enginehost_error* error = nullptr;
  const enginehost_status status = enginehost_engine_device(&engine, number, out, &error);
  enginehost_error_free(error);
  if (status != ENGINEHOST_OK) return fail(sdk::wrong_argument("out", "it is NULL or its size is not set"));
  return {};
}

Result<engine_owned_tensor*> copied_to(enginehost::load::Engine& engine, const engine_tensor& from,
                                       engine_device device, const enginehost::load::CallOptions& options) {
  const engine_tensor_v1* const table = engine.tensor_table();
  if (table == nullptr)
    return fail(std::move(enginehost::diagnose("EH-S18").with("table", ENGINE_TENSOR_V1)));
  engine_tensor like = from;
  like.data = nullptr;
  like.byte_offset = 0;
  like.strides = nullptr;
  like.device = device;
  engine_owned_tensor* made = nullptr;
  enginehost::load::Call creating(options);
  TRY(creating.finish(table->create(engine.instance(), &like, &made, creating.get())));
  enginehost::load::Call copying(options);
  if (auto done = copying.finish(table->copy(engine.instance(), &from, &made->tensor, copying.get()));
      !done) {
    made->release(made);
    return fail(std::move(done).error());
  }
  return made;
}

}  // namespace

enginehost_status enginehost_engine_choose_device(const enginehost_engine* engine, const char* wanted,
                                                  enginehost_device* out, enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    if (engine == nullptr) return fail(sdk::wrong_argument("engine", "it is NULL"));
    TRY_ASSIGN(const std::size_t number, chosen(*engine, wanted));
    return tell(*engine, number, out);
  });
}

enginehost_status enginehost_engine_set_default_device(enginehost_engine* engine, const char* device,
                                                       enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    if (engine == nullptr) return fail(sdk::wrong_argument("engine", "it is NULL"));
    if (device != nullptr) TRY(chosen(*engine, device));
    engine->default_device = device != nullptr ? device : "";
    return {};
  });
}

enginehost_status enginehost_engine_functional(enginehost_engine* engine, const char* device,
                                               const enginehost_cancel* cancel,
                                               enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    if (engine == nullptr) return fail(sdk::wrong_argument("engine", "it is NULL"));
    TRY_ASSIGN(const std::size_t number, chosen(*engine, device != nullptr ? device : "gpu"));
    enginehost::load::CallOptions options;
    if (cancel != nullptr) options.cancel = cancel->token;
    TRY(engine->shared->check(engine->shared->device_names()[number], options));
    return {};
  });
}

enginehost_status enginehost_tensor_copy(enginehost_engine* engine, const void* tensor, const char* device,
                                         const enginehost_cancel* cancel, DLManagedTensorVersioned** out,
                                         enginehost_error** error) noexcept {
  if (out != nullptr) *out = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    if (engine == nullptr || tensor == nullptr || out == nullptr)
      return fail(sdk::wrong_argument(engine == nullptr   ? "engine"
                                      : tensor == nullptr ? "tensor"
                                                          : "out",
                                      "it is NULL"));
    const auto& from = *static_cast<const engine_tensor*>(tensor);
    TRY_ASSIGN(const std::size_t number, chosen(*engine, device));
    const engine_device to = engine->shared->opened().devices[number].id;
    if (is_there(from.device, to)) return {};
    enginehost::load::CallOptions options;
    if (cancel != nullptr) options.cancel = cancel->token;
    TRY_ASSIGN(const auto alone, engine->shared->exclusive(options.cancel));
    TRY_ASSIGN(engine_owned_tensor* const copy, copied_to(engine->shared->engine(), from, to, options));
    *out = reinterpret_cast<DLManagedTensorVersioned*>(copy);
    return {};
  });
}
