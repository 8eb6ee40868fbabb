#include <enginehost/enginehost.h>

#include <cstddef>
#include <filesystem>
#include <new>
#include <optional>
#include <utility>

#include "base/paths.hpp"
#include "host/sdk/handles.hpp"

namespace sdk = enginehost::sdk;
using enginehost::Code;
using enginehost::Key;
using enginehost::Result;
using enginehost::load::Output;

namespace {

// Waits until no other thread runs the model, unless the engine allows concurrent runs. EH-P10 if canceled
// before that.
Result<std::optional<sdk::CallQueue::QueueTurn>> turn_on(
    enginehost_model& model, const std::optional<enginehost::CancelToken>& cancel) {
  std::optional<sdk::CallQueue::QueueTurn> turn;
  if (model.model->concurrent()) return turn;
  TRY_ASSIGN(sdk::CallQueue::QueueTurn taken, model.runs.take(cancel));
  turn.emplace(std::move(taken));
  return turn;
}

// engine_tensor has the layout of DLPack's DLTensor; a test of the plugin header checks that.
const engine_tensor* tensor_of(const void* tensor) { return static_cast<const engine_tensor*>(tensor); }

Result<void> describe(const engine_port* ports, std::size_t count, const std::vector<std::string>& types,
                      std::size_t number, enginehost_port* out) {
  // The fields that every caller's struct has. Later fields are filled in only if they fit.
  constexpr std::size_t first_port =
      offsetof(enginehost_port, dtype_bits) + sizeof(enginehost_port::dtype_bits);
  if (out == nullptr || out->size < first_port)
    return fail(sdk::wrong_argument("out", "it is NULL or its size is not set"));
  if (number >= count)
    return fail(enginehost::diagnose(Code::number_out_of_range)
                    .with(Key::number, std::to_string(number))
                    .with(Key::count, std::to_string(count))
                    .with(Key::of, "ports"));
  const engine_port& port = ports[number];
  out->name = port.name;
  out->type = types[number].c_str();
  out->ndim = port.ndim;
  out->optional = (port.flags & ENGINE_PORT_OPTIONAL) != 0;
  out->shape = port.ndim > 0 ? port.shape : nullptr;
  out->dtype_code = port.dtype.code;
  out->dtype_bits = port.dtype.bits;
  return {};
}

std::string name_of(const engine_function& function, const Output& output) {
  std::string name = output.number < function.output_count ? function.outputs[output.number].name : "";
  if (!output.name.empty()) name += "." + output.name;
  return name;
}

}  // namespace

enginehost_status enginehost_model_load(enginehost_engine* engine, const char* path, const char* format,
                                        const char* device, const enginehost_cancel* cancel,
                                        enginehost_model** out, enginehost_error** error) noexcept {
  if (out != nullptr) *out = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("engine", engine));
    TRY(sdk::not_null("path", path));
    TRY(sdk::not_null("out", out));
    enginehost::load::ModelRequest request;
    std::error_code ignored;
    request.file = std::filesystem::absolute(enginehost::path_of(path), ignored);
    request.format = format != nullptr ? format : "";
    auto model = std::make_unique<enginehost_model>();
    enginehost::open::SharedEngine& shared = *engine->shared;
    TRY_ASSIGN(const std::size_t number, sdk::chosen_device(*engine, device));
    request.device = shared.device_names()[number];
    {
      const enginehost::load::CallOptions call = sdk::call_with(cancel);
      TRY_ASSIGN(const auto alone, shared.exclusive(call.cancel));
      TRY_ASSIGN(model->model, enginehost::load::Model::load(shared.engine(), request, call));
    }
    const engine_function& function = model->model->function();
    for (std::size_t i = 0; i < function.input_count; ++i)
      model->input_types.push_back(enginehost::load::describe_port(function.inputs[i]));
    for (std::size_t i = 0; i < function.output_count; ++i)
      model->output_types.push_back(enginehost::load::describe_port(function.outputs[i]));
    *out = model.release();
    return {};
  });
}

void enginehost_model_free(enginehost_model* model) noexcept { sdk::free_handle(model); }

size_t enginehost_model_input_count(const enginehost_model* model) noexcept {
  return model != nullptr ? model->model->function().input_count : 0;
}
size_t enginehost_model_output_count(const enginehost_model* model) noexcept {
  return model != nullptr ? model->model->function().output_count : 0;
}

enginehost_status enginehost_model_input(const enginehost_model* model, size_t number, enginehost_port* out,
                                         enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("model", model));
    const engine_function& function = model->model->function();
    return describe(function.inputs, function.input_count, model->input_types, number, out);
  });
}

enginehost_status enginehost_model_output(const enginehost_model* model, size_t number, enginehost_port* out,
                                          enginehost_error** error) noexcept {
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("model", model));
    const engine_function& function = model->model->function();
    return describe(function.outputs, function.output_count, model->output_types, number, out);
  });
}

enginehost_status enginehost_model_run(enginehost_model* model, const enginehost_input* inputs,
                                       size_t input_count, const enginehost_cancel* cancel,
                                       enginehost_outputs** out, enginehost_error** error) noexcept {
  if (out != nullptr) *out = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::usable("model", model));
    TRY(sdk::not_null("out", out));
    if (input_count > 0) TRY(sdk::not_null("inputs", inputs));
    std::vector<enginehost::load::NamedTensor> tensors;
    for (std::size_t i = 0; i < input_count; ++i) {
      TRY(sdk::not_null("inputs[].tensor", inputs[i].tensor));
      tensors.push_back({inputs[i].name != nullptr ? inputs[i].name : "", tensor_of(inputs[i].tensor)});
    }
    auto outputs = std::make_unique<enginehost_outputs>();
    {
      const enginehost::load::CallOptions call = sdk::call_with(cancel);
      TRY_ASSIGN(const auto turn, turn_on(*model, call.cancel));
      TRY_ASSIGN(outputs->outputs, model->model->run(tensors, call));
    }
    for (const auto& output : outputs->outputs)
      outputs->names.push_back(name_of(model->model->function(), *output));
    *out = outputs.release();
    return {};
  });
}

void enginehost_outputs_free(enginehost_outputs* outputs) noexcept { sdk::free_handle(outputs); }

size_t enginehost_outputs_count(const enginehost_outputs* outputs) noexcept {
  return outputs != nullptr ? outputs->outputs.size() : 0;
}

const char* enginehost_outputs_name(const enginehost_outputs* outputs, size_t number) noexcept {
  return outputs != nullptr && number < outputs->names.size() ? outputs->names[number].c_str() : "";
}

const void* enginehost_outputs_tensor(const enginehost_outputs* outputs, size_t number) noexcept {
  const bool there =
      outputs != nullptr && number < outputs->outputs.size() && outputs->outputs[number] != nullptr;
  return there ? &outputs->outputs[number]->tensor() : nullptr;
}

DLManagedTensorVersioned* enginehost_outputs_take(enginehost_outputs* outputs, size_t number) noexcept {
  if (outputs == nullptr || !outputs->is_of_this_process() || number >= outputs->outputs.size() ||
      outputs->outputs[number] == nullptr)
    return nullptr;
  try {
    return reinterpret_cast<DLManagedTensorVersioned*>(sdk::give_out(std::move(outputs->outputs[number])));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
