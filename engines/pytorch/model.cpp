// engine.model/1 over a TorchScript module.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <memory>

#include "engines/pytorch/ports.hpp"
#include "engines/pytorch/results.hpp"
#include "engines/pytorch/tensors.hpp"
#include "engines/support/options.hpp"

struct engine_model {
  engine_instance* engine;
  torch::jit::Module module;
  c10::Device device;
  std::vector<enginehost::engines::pytorch::Method> methods;
  std::vector<engine_function> functions;
  std::string class_name;
  engine_entry metadata[1] = {};
  engine_model_info info{};
};

namespace enginehost::engines::pytorch {
namespace {

// A model in the host's memory, read in place.
class Memory : public caffe2::serialize::ReadAdapterInterface {
 public:
  Memory(const void* data, size_t size) : data_(static_cast<const char*>(data)), size_(size) {}
  size_t size() const override { return size_; }
  size_t read(uint64_t position, void* out, size_t count, const char*) const override {
    if (position >= size_) return 0;
    size_t length = std::min(count, size_ - static_cast<size_t>(position));
    std::memcpy(out, data_ + position, length);
    return length;
  }

 private:
  const char* data_;
  size_t size_;
};

void check_description(const engine_model_desc& desc, engine_call* call) {
  if (std::strcmp(desc.format, "torchscript") != 0) {
    throw Failure{ENGINE_UNSUPPORTED, std::string("The model is of the format \"") + desc.format +
                                          "\"; this engine reads \"torchscript\"."};
  }
  allow_options<Failure>("Models of PyTorch have", desc.options, desc.option_count, {}, call);
  if (desc.path != nullptr && access(desc.path, R_OK) != 0) {
    int error = errno;
    call->detail(call, "path", desc.path);
    throw Failure{ENGINE_INVALID, std::string("The model file ") + desc.path +
                                      " cannot be read: " + std::strerror(error) + "."};
  }
}

torch::jit::Module read_module(const engine_model_desc& desc, c10::Device device, engine_call* call) {
  try {
    if (desc.path != nullptr) return torch::jit::load(std::string(desc.path), device);
    return torch::jit::load(std::make_shared<Memory>(desc.data, static_cast<size_t>(desc.data_size)), device);
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    std::string message = error.what_without_backtrace();
    if (desc.path != nullptr) call->detail(call, "path", desc.path);
    // A missing operator makes an intact file unusable in this release; any other error is the file's fault.
    bool of_another_release = message.find("Unknown builtin op") != std::string::npos ||
                              message.find("newer version of the operator") != std::string::npos ||
                              message.find("larger than the maximum version") != std::string::npos;
    throw Failure{of_another_release ? ENGINE_UNSUPPORTED : ENGINE_CORRUPT,
                  "libtorch cannot read the model: " + message};
  }
}

void describe_methods(engine_model& model) {
  // forward() is the default function. In a module without it, the file's order decides.
  for (bool first : {true, false}) {
    for (const torch::jit::Method& method : model.module.get_methods()) {
      if ((method.name() == "forward") != first) continue;
      try {
        model.methods.push_back(describe(method));
      } catch (const Failure&) {
        if (first) throw;  // an additional method whose arguments the ABI cannot represent is not offered
      }
    }
  }
  if (model.methods.empty())
    throw Failure{ENGINE_UNSUPPORTED, "The model has no method that could be run through the plugin ABI."};
  for (const Method& method : model.methods) {
    model.functions.push_back({method.name.c_str(), method.inputs.data(), method.outputs.data(),
                               method.inputs.size(), method.outputs.size()});
  }
}

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, ENGINE_CORRUPT, [&] {
    check_description(*desc, call);
    c10::Device device = to_torch(desc->device, engine->devices, call);
    call->progress(call, 0, 0, "load");
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "Loading was stopped before it began."};
    torch::jit::Module module = read_module(*desc, device, call);
    module.eval();
    std::unique_ptr<engine_model> model(new engine_model{engine, std::move(module), device, {}, {}, {}});
    describe_methods(*model);
    if (c10::optional<c10::QualifiedName> name = model->module.type()->name())
      model->class_name = name->qualifiedName();
    model->metadata[0] = {"class", model->class_name.c_str()};
    model->info.size = sizeof model->info;  // not CONCURRENT: modules may keep state from run to run
    model->info.functions = model->functions.data();
    model->info.function_count = model->functions.size();
    model->info.metadata = model->metadata;
    model->info.metadata_count = 1;
    *out = model.release();
  });
}

void unload_model(engine_model* model) noexcept { delete model; }

const engine_model_info* model_info(engine_model* model) noexcept { return &model->info; }

// The inputs of one run on the model's device, by number.
struct GivenInputs {
  std::vector<std::vector<at::Tensor>> values;
  std::vector<std::vector<std::string>> keys;
  std::vector<at::Tensor> borrowed;  // the inputs in host memory
};

GivenInputs take_inputs(const engine_model& model, const Method& method, const engine_run& what,
                        engine_call* call) {
  GivenInputs given{std::vector<std::vector<at::Tensor>>(method.inputs.size()),
                    std::vector<std::vector<std::string>>(method.inputs.size()),
                    {}};
  for (size_t i = 0; i < what.input_count; i++) {
    const engine_value& value = what.inputs[i];
    if (value.input >= method.inputs.size()) {
      throw Failure{ENGINE_INVALID, method.name + "() has " + std::to_string(method.inputs.size()) +
                                        " inputs, and number " + std::to_string(value.input) + " was given."};
    }
    const char* name = method.inputs[value.input].name;
    at::Tensor tensor = borrow(*value.tensor, name, model.engine, call);
    if (tensor.device() != model.device && !tensor.is_cpu()) {
      call->detail(call, "input", name);
      throw Failure{ENGINE_INVALID, std::string("Input \"") + name + "\" is on " + tensor.device().str() +
                                        ", and the model is on " + model.device.str() +
                                        "; copy it there first."};
    }
    given.borrowed.push_back(tensor);
    if (tensor.device() != model.device) {
      tensor = tensor.to(model.device);
    } else if (method.writes_to_tensors) {
      tensor = tensor.clone();  // the host's tensors are never written
    }
    given.values[value.input].push_back(std::move(tensor));
    given.keys[value.input].emplace_back(value.name == nullptr ? "" : value.name);
  }
  return given;
}

std::vector<c10::IValue> to_arguments(const Method& method, const GivenInputs& given,
                                      const c10::FunctionSchema& schema, engine_call* call) {
  std::vector<c10::IValue> out;
  for (size_t i = 0; i < method.inputs.size(); i++) {
    const engine_port& port = method.inputs[i];
    if (!given.values[i].empty()) {
      call->detail(call, "input", port.name);
      out.push_back(to_argument(method.input_types[i], given.values[i], given.keys[i], port.name));
      continue;
    }
    if ((port.flags & ENGINE_PORT_REPEATED) != 0 && (port.flags & ENGINE_PORT_OPTIONAL) == 0) {
      out.push_back(to_argument(method.input_types[i], {}, {}, port.name));  // an empty list
      continue;
    }
    if ((port.flags & ENGINE_PORT_OPTIONAL) == 0) {
      call->detail(call, "input", port.name);
      throw Failure{ENGINE_INVALID, std::string("Input \"") + port.name + "\" is missing."};
    }
    out.push_back(*schema.arguments()[i + 1].default_value());
  }
  return out;
}

engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept {
  return catch_all(call, ENGINE_INVALID, [&] {
    if (what->function >= model->methods.size()) {
      throw Failure{ENGINE_INVALID, "The model has " + std::to_string(model->methods.size()) +
                                        " functions, and number " + std::to_string(what->function) +
                                        " was requested."};
    }
    allow_options<Failure>("Runs of PyTorch have", what->options, what->option_count, {}, call);
    const Method& method = model->methods[what->function];
    // libtorch cannot be interrupted during a run; cancellation is checked when it is over.
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The run was stopped before it began."};
    c10::optional<c10::Device> wanted = c10::Device(c10::kCPU);
    if (what->output_device.type != 0) wanted = to_torch(what->output_device, model->engine->devices, call);
    c10::InferenceMode guard;
    torch::jit::Method callee = model->module.get_method(method.name);
    GivenInputs given = take_inputs(*model, method, *what, call);
    std::vector<c10::IValue> arguments = to_arguments(method, given, callee.function().getSchema(), call);
    given.values.clear();
    c10::IValue out = callee(std::move(arguments));
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The run was stopped; its results are dropped."};
    ResultWriter writer(results, wanted, given.borrowed);
    if (!method.several_outputs) {
      if (!method.outputs.empty()) writer.give(0, "", std::move(out));
      return;
    }
    std::vector<c10::IValue> parts(out.toTupleRef().elements().begin(), out.toTupleRef().elements().end());
    out = {};
    for (size_t i = 0; i < parts.size(); i++) writer.give(static_cast<uint32_t>(i), "", std::move(parts[i]));
  });
}

}  // namespace

const engine_model_v1 model_table = {load_model, unload_model, model_info, run_model};

}  // namespace enginehost::engines::pytorch
