// Device functions of the C API: choice, checks and copies.
#include <enginehost/enginehost.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "host/load/in_process/tensors.hpp"
#include "host/sdk/handles.hpp"

namespace enginehost::sdk {
namespace {

using load::Device;

// Returns the nearest build with such devices that was not opened, and why, from the decision's document.
std::string why_no_other_build(const Json& report, std::string_view kind) {
  for (const Json& candidate : report["candidates"].as_array()) {
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

// A device that the engine lists and that failed when the build was probed is missing for its own reason.
Diagnosis not_there(std::string_view wanted, const enginehost_engine& engine) {
  for (const Diagnosis& failure : engine.shared->opened().unusable) {
    const std::string_view device = failure.value(Key::device);
    if (device == wanted || device.substr(0, device.find(':')) == wanted || wanted == "gpu") return failure;
  }
  Diagnosis missing = diagnose(Code::device_not_offered);
  missing.with(Key::device, wanted);
  for (const std::string& name : engine.shared->device_names())
    missing.with(Key::offered, name, "the engine");
  const std::string_view kind = wanted.substr(0, wanted.find_first_of(":,"));
  const auto report = parse_json(engine.shared->report(), "report");
  if (!report) return missing;
  if (const std::string why = why_no_other_build(*report, kind); !why.empty())
    missing.with(Key::other_build, why);
  // The variable hides devices from all NVIDIA libraries, and renumbers the others.
  const Json& visible = (*report)["platform"]["cuda"]["visible_devices"]["value"];
  if (visible.is_string() && (kind == "cuda" || kind == "gpu"))
    missing.with(Key::cuda_visible_devices, visible.as_string().empty() ? "\"\"" : visible.as_string(),
                 "environment");
  return missing;
}

// Returns the default device of an application that names none; null if there are no devices.
const Device* default_of(const enginehost_engine& engine) {
  const auto& devices = engine.shared->opened().devices;
  for (const std::string* preference :
       {&engine.default_device, &engine.requested_device, &engine.shared->preferred_device()})
    if (const Device* const device = load::first_meant(devices, *preference)) return device;
  return load::usual_device(devices);
}

}  // namespace

Result<std::size_t> chosen_device(const enginehost_engine& engine, const char* wanted) {
  const auto& devices = engine.shared->opened().devices;
  const bool any = wanted == nullptr || *wanted == '\0';
  const Device* const found = any ? default_of(engine) : load::first_meant(devices, wanted);
  if (found == nullptr) return fail(not_there(any ? "any" : wanted, engine));
  return static_cast<std::size_t>(found - devices.data());
}

namespace {

struct GivenOut : OfProcess {
  engine_owned_tensor tensor{};
  load::OwnedTensor owned;               // the engine's own
  std::unique_ptr<load::Output> output;  // or memory of the host
};

engine_owned_tensor* give_out(std::unique_ptr<GivenOut> given) {
  given->tensor.owner = given.get();
  given->tensor.release = [](engine_owned_tensor* self) noexcept {
    free_handle(static_cast<const GivenOut*>(self->owner));
  };
  return &given.release()->tensor;
}

}  // namespace

engine_owned_tensor* give_out(load::OwnedTensor tensor) {
  auto given = std::make_unique<GivenOut>();
  given->tensor = *tensor;
  given->owned = std::move(tensor);
  return give_out(std::move(given));
}

engine_owned_tensor* give_out(std::unique_ptr<load::Output> output) {
  if (load::OwnedTensor tensor{output->take()}) return give_out(std::move(tensor));
  auto given = std::make_unique<GivenOut>();
  given->tensor.major = 1;
  given->tensor.tensor = output->tensor();
  given->output = std::move(output);
  return give_out(std::move(given));
}

}  // namespace enginehost::sdk

namespace sdk = enginehost::sdk;
using enginehost::Code;
using enginehost::Key;
using enginehost::Result;

namespace {

bool in_host_memory(engine_device device) {
  return device.type == ENGINE_CPU || device.type == ENGINE_CUDA_HOST || device.type == ENGINE_ROCM_HOST;
}

bool is_same(engine_device one, engine_device other) {
  return one.type == other.type && one.index == other.index;
}

bool is_there(engine_device from, engine_device to) {
  return is_same(from, to) || (in_host_memory(from) && in_host_memory(to));
}

// The destination of a copy, with its name.
struct Destination {
  engine_device device;
  std::string name;
  bool is_ours = false;  // host memory in which the engine creates no tensors
};

// Host memory is always a destination, even if the engine does not compute on the CPU, so that tensors on its
// devices can be read.
Result<Destination> destination(const enginehost_engine& engine, const char* wanted) {
  const auto& devices = engine.shared->opened().devices;
  const std::string_view name = wanted != nullptr ? wanted : "";
  if ((name == "cpu" || name == "cpu:0") && enginehost::load::first_meant(devices, name) == nullptr)
    return Destination{{ENGINE_CPU, 0}, std::string(name), true};
  TRY_ASSIGN(const std::size_t number, sdk::chosen_device(engine, wanted));
  return Destination{devices[number].id, engine.shared->device_names()[number]};
}

// Returns the name of the device that the copy depends on: the tensor's device. For a tensor in host memory,
// or in managed memory (which is read there too), it is the destination. EH-P49 if the engine has no such
// device, because the engine would read its memory as its own.
Result<std::string> device_at_work(const enginehost_engine& engine, engine_device from,
                                   const std::string& to) {
  const auto& names = engine.shared->device_names();
  if (in_host_memory(from) || from.type == ENGINE_CUDA_MANAGED) return to;
  const auto& devices = engine.shared->opened().devices;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (is_same(devices[i].id, from)) return names[i];
  enginehost::load::Device unknown;
  unknown.id = from;
  return fail(std::move(enginehost::diagnose(Code::input_on_other_device)
                            .with(Key::input, "tensor")
                            .with(Key::found_on, unknown.text())
                            .with(Key::device, to)));
}

// Allocates in memory of the engine, or in ours.
Result<enginehost::load::OwnedTensor> room_for(enginehost::load::Engine& engine, const engine_tensor& from,
                                               const Destination& to,
                                               const enginehost::load::CallOptions& options) {
  namespace load = enginehost::load;
  engine_tensor like = from;
  like.device = to.device;
  if (!to.is_ours) return load::create_tensor(engine, like, options);
  load::Results results;
  if (results.get()->place(results.get(), 0, nullptr, &like) == nullptr) throw std::bad_alloc();
  return load::OwnedTensor(sdk::give_out(std::move(results.take().front())));
}

Result<enginehost::load::OwnedTensor> copied_to(enginehost::load::Engine& engine, const engine_tensor& from,
                                                const Destination& to, const std::string& at_work,
                                                const enginehost::load::CallOptions& options) {
  const engine_tensor_v1* const table = engine.tensor_table();
  if (table == nullptr)
    return fail(
        std::move(enginehost::diagnose(Code::not_offered_by_engine).with(Key::table, ENGINE_TENSOR_V1)));
  namespace load = enginehost::load;
  load::Work work = engine.work_on(at_work, load::WorkKind::preparing);
  auto made = room_for(engine, from, to, options);
  if (!made) return work.ended(std::move(made));
  TRY(work.ended(load::copy_tensor(engine, from, (*made)->tensor, options)));
  return std::move(*made);
}

}  // namespace

enginehost_status enginehost_engine_choose_device(const enginehost_engine* engine, const char* wanted,
                                                  enginehost_device* out, enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    TRY_ASSIGN(const std::size_t number, sdk::chosen_device(*engine, wanted));
    return sdk::describe(*engine, number, out);
  });
}

enginehost_status enginehost_engine_set_default_device(enginehost_engine* engine, const char* device,
                                                       enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    const std::string wanted = device != nullptr ? device : "";
    if (!wanted.empty()) TRY(sdk::chosen_device(*engine, device));
    engine->default_device = wanted;
    return {};
  });
}

enginehost_status enginehost_engine_functional(enginehost_engine* engine, const char* device,
                                               const enginehost_cancel* cancel,
                                               enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    TRY_ASSIGN(const std::size_t number, sdk::chosen_device(*engine, device));
    TRY(engine->shared->check(engine->shared->device_names()[number], sdk::call_with(cancel)));
    return {};
  });
}

enginehost_status enginehost_tensor_copy(enginehost_engine* engine, const void* tensor, const char* device,
                                         const enginehost_cancel* cancel, DLManagedTensorVersioned** out,
                                         enginehost_error** error) noexcept {
  if (out != nullptr) *out = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    TRY(sdk::not_null("tensor", tensor));
    TRY(sdk::not_null("out", out));
    TRY_ASSIGN(const enginehost::load::PassedTensor passed,
               enginehost::load::PassedTensor::take("tensor", *static_cast<const engine_tensor*>(tensor)));
    const engine_tensor& from = passed.tensor();
    TRY_ASSIGN(const Destination to, destination(*engine, device));
    TRY_ASSIGN(const std::string at_work, device_at_work(*engine, from.device, to.name));
    if (is_there(from.device, to.device)) return {};
    if (from.dtype.code == ENGINE_STRING)
      return fail(
          enginehost::diagnose(Code::tensor_does_not_fit)
              .with(Key::input, "tensor")
              .with(Key::given, enginehost::load::describe_tensor(from))
              .with(Key::wanted, "a tensor of numbers: strings lie in host memory", "the plugin interface"));
    const enginehost::load::CallOptions options = sdk::call_with(cancel);
    TRY_ASSIGN(const auto alone, engine->shared->exclusive(options.cancel));
    TRY_ASSIGN(auto copy, copied_to(engine->shared->engine(), from, to, at_work, options));
    *out = reinterpret_cast<DLManagedTensorVersioned*>(sdk::give_out(std::move(copy)));
    return {};
  });
}
