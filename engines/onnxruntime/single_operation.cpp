// engine.op/1: a one-node model for each operation, its types and attributes, kept for later calls. The
// runtime checks less than ONNX requires: it multiplies vectors of different lengths, accepts every axis for
// Softmax, and hangs in Conv with an empty window. This adapter therefore checks first.
#include <algorithm>

#include "engines/onnxruntime/model.hpp"
#include "engines/onnxruntime/one_node_model.hpp"
#include "engines/onnxruntime/provider.hpp"
#include "engines/onnxruntime/tensors.hpp"
#include "engines/support/onnx_rules.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

constexpr size_t most_kept = 256;

// True for operations that every release has. For these a failed session means wrong attributes: the runtime
// reports unknown names and unwanted attributes alike, as "fail" or "invalid graph".
bool always_known(const std::string& name) {
  for (const char* known : {"Add", "Mul", "MatMul", "Relu", "Softmax", "Conv"}) {
    if (name == known) return true;
  }
  return false;
}

// Keeps the last of several attributes with one name; the runtime would refuse the model.
std::vector<engine_entry> given_once(const engine_entry* attributes, size_t count) {
  std::vector<engine_entry> out;
  for (size_t i = 0; i < count; i++)
    if (find_entry(attributes + i + 1, count - i - 1, attributes[i].key) == nullptr)
      out.push_back(attributes[i]);
  return out;
}

// For a run that follows ONNX's rules: a request that the runtime calls invalid is one that it does not
// support.
struct KeepsTheRules : engine_call {
  explicit KeepsTheRules(engine_call* outer) : engine_call(*outer) {
    size = sizeof(engine_call);
    host_data = outer;
    is_cancelled = [](const engine_call* self) noexcept -> int32_t {
      auto* host_call = static_cast<engine_call*>(self->host_data);
      return host_call->is_cancelled(host_call);
    };
    progress = [](engine_call* self, uint64_t done, uint64_t total, const char* stage) noexcept {
      auto* host_call = static_cast<engine_call*>(self->host_data);
      host_call->progress(host_call, done, total, stage);
    };
    detail = [](engine_call* self, const char* key, const char* value) noexcept {
      auto* host_call = static_cast<engine_call*>(self->host_data);
      host_call->detail(host_call, key, value);
    };
    fail = [](engine_call* self, engine_status status, const char* from, int64_t native,
              const char* message) noexcept {
      auto* host_call = static_cast<engine_call*>(self->host_data);
      const bool of_the_runtime = status == ENGINE_INVALID && native != 0;
      return host_call->fail(host_call, of_the_runtime ? ENGINE_UNSUPPORTED : status, from, native, message);
    };
  }
};

// Passes results on as tensors of `device`, which the runtime gives in host memory.
struct OnDevice : engine_results {
  OnDevice(engine_results* outer, engine_device of) : engine_results{}, wanted(outer), device(of) {
    size = sizeof(engine_results);
    host_data = this;
    place = [](engine_results*, uint32_t, const char*,
               const engine_tensor*) noexcept -> const engine_tensor* { return nullptr; };
    give = [](engine_results* self, uint32_t output, const char* name, engine_owned_tensor* tensor) noexcept {
      auto* own = static_cast<OnDevice*>(self->host_data);
      tensor->tensor.device = own->device;
      own->wanted->give(own->wanted, output, name, tensor);
    };
  }
  engine_results* wanted;
  engine_device device;
};

// Returns the device that the inputs are on. Throws a Failure if there are several, or if it is not the
// engine's.
engine_device device_of(const engine_instance& engine, const char* name, const engine_tensor* const* inputs,
                        size_t count) {
  engine_device first = {ENGINE_CPU, 0};
  const auto refuse = [&](size_t number, const std::string& why) {
    return Failure{ENGINE_INVALID, "Input " + std::to_string(number) + " of " + name + " is on " +
                                       name_of(engine, inputs[number]->device) + "; " + why + "."};
  };
  for (size_t i = 0; i < count; i++) {
    const engine_device given = inputs[i]->device;
    const engine_device device = in_host_memory(given) ? engine_device{ENGINE_CPU, 0} : given;
    if (!is_reached(engine, device)) throw refuse(i, "this build computes on cpu:0");
    if (i == 0) first = device;
    if (device.type != first.type || device.index != first.index)
      throw refuse(i, "input 0 is on " + name_of(engine, first));
  }
  return first;
}

engine_model* make(engine_instance* engine, const std::string& name, const std::vector<int>& types,
                   engine_device device, const engine_entry* attributes, size_t attribute_count,
                   engine_call* call) {
  // Holds the attempt's own reports back, because its status may have to be changed.
  struct Quiet : engine_call {
    std::string message;
    int64_t native = 0;
  } quiet{};
  static_cast<engine_call&>(quiet) = *call;
  quiet.host_data = call;
  quiet.is_cancelled = [](const engine_call* self) noexcept -> int32_t {
    auto* outer = static_cast<engine_call*>(self->host_data);
    return outer->is_cancelled(outer);
  };
  quiet.progress = [](engine_call*, uint64_t, uint64_t, const char*) noexcept {};
  quiet.detail = [](engine_call*, const char*, const char*) noexcept {};
  quiet.fail = [](engine_call* self, engine_status status, const char*, int64_t native,
                  const char* text) noexcept {
    auto* own = static_cast<Quiet*>(self);
    own->native = native;
    own->message = text;
    return status;
  };
  quiet.size = sizeof(engine_call);
  std::string bytes = one_node_model(name, types, attributes, attribute_count);
  engine_model_desc desc{};
  desc.size = sizeof desc;
  desc.format = "onnx";
  desc.data = bytes.data();
  desc.data_size = bytes.size();
  desc.device = device;
  engine_model* model = nullptr;
  engine_status status = load_model(engine, &desc, &model, &quiet);
  if (status == ENGINE_OK) return model;
  call->detail(call, "operation", name.c_str());
  bool of_the_name = quiet.native == ort_fail || quiet.native == ort_invalid_graph;
  bool of_the_type = quiet.message.find("Type Error") != std::string::npos &&
                     std::all_of(types.begin(), types.end(), [&](int type) { return type == types[0]; });
  if (of_the_name) status = always_known(name) && !of_the_type ? ENGINE_INVALID : ENGINE_UNSUPPORTED;
  throw Failure{status, "ONNX Runtime cannot compute \"" + name + "\" this way: " + quiet.message,
                quiet.native};
}

engine_status run_operation(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                            size_t input_count, const engine_entry* attributes, size_t attribute_count,
                            engine_results* results, engine_call* call) noexcept {
  engine_model* model = nullptr;
  engine_device device{};
  engine_status status = catch_all(call, [&] {
    device = device_of(*engine, name, inputs, input_count);
    std::vector<int> types;
    // Each text follows its length, so that two requests have the same key only when they are equal.
    std::string key;
    const auto add_to_key = [&](const char* text) {
      key.append(std::to_string(std::strlen(text))).append(":").append(text);
    };
    add_to_key(name);
    add_to_key(name_of(*engine, device).c_str());
    for (size_t i = 0; i < input_count; i++) {
      int type = to_ort_type(inputs[i]->dtype);
      if (type == 0) {
        Text text;
        text << "Input " << static_cast<int64_t>(i) << " of " << name << " is of the type ";
        throw Failure{ENGINE_UNSUPPORTED,
                      (text.type(inputs[i]->dtype) << ", which ONNX Runtime does not have.").c_str()};
      }
      types.push_back(type);
      key += "," + std::to_string(type);
    }
    check_onnx_rules(name, inputs, input_count, Attributes<Failure>(name, attributes, attribute_count, call));
    const std::vector<engine_entry> once = given_once(attributes, attribute_count);
    key += ";";
    for (const engine_entry& attribute : once) {
      add_to_key(attribute.key);
      add_to_key(attribute.value);
    }
    std::lock_guard lock(engine->operations_mutex);
    auto known = engine->operations.find(key);
    if (known == engine->operations.end()) {
      if (engine->operations.size() >= most_kept) {
        for (auto& [unused, kept] : engine->operations) unload_model(kept);
        engine->operations.clear();
      }
      model = make(engine, name, types, device, once.data(), once.size(), call);
      engine->operations.emplace(key, model);
    } else {
      model = known->second;
    }
  });
  if (status != ENGINE_OK) return status;
  std::vector<engine_tensor> in_memory;  // the inputs as the runtime takes them
  std::vector<engine_value> values;
  status = catch_all(call, [&] {
    in_memory.reserve(input_count);
    for (size_t i = 0; i < input_count; i++) {
      in_memory.push_back(*inputs[i]);
      in_memory.back().device = {ENGINE_CPU, 0};
      values.push_back({static_cast<uint32_t>(i), 0, nullptr, &in_memory.back()});
    }
  });
  if (status != ENGINE_OK) return status;
  engine_run run{};
  run.size = sizeof run;
  run.inputs = values.data();
  run.input_count = values.size();
  KeepsTheRules checked_call(call);
  OnDevice on_device(results, device);
  return run_model(model, &run, device.type == ENGINE_CPU ? results : &on_device,
                   always_known(name) ? &checked_call : call);
}

}  // namespace

extern const engine_op_v1 operation_table = {run_operation};

}  // namespace enginehost::engines::onnxruntime

engine_instance::~engine_instance() {
  for (auto& [key, model] : operations) enginehost::engines::onnxruntime::unload_model(model);
}
