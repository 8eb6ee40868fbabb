#include "engines/onnxruntime/model.hpp"

#include "engines/onnxruntime/device_session.hpp"
#include "engines/onnxruntime/provider.hpp"
#include "engines/onnxruntime/system.hpp"
#include "engines/onnxruntime/tensors.hpp"
#include "engines/support/options.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

// "onnxruntime.KEY" is the session setting KEY of ONNX Runtime, for example
// onnxruntime.session.intra_op.allow_spinning.
void set_options(engine_model& model, OrtSessionOptions* options, const engine_model_desc& desc,
                 engine_call* call) {
  const Runtime& runtime = *model.engine->runtime;
  std::string threads = model.engine->threads;
  bool measured = model.device.type != ENGINE_CPU;
  const std::string prefix = "onnxruntime.";
  for (size_t i = 0; i < desc.option_count; i++) {
    std::string key = desc.options[i].key;
    if (key == "threads") {
      threads = desc.options[i].value;
    } else if (key == "placement") {
      measured = std::strcmp(desc.options[i].value, "measure") == 0;
      if (measured) continue;
      call->detail(call, "option", "placement");
      throw Failure{ENGINE_INVALID, "The option placement can only be \"measure\"."};
    } else if (key.size() > prefix.size() && key.compare(0, prefix.size(), prefix) == 0) {
      runtime.check(api::add_session_setting(runtime.table(), options, key.c_str() + prefix.size(),
                                             desc.options[i].value),
                    ENGINE_INVALID);
      if (key == prefix + no_cpu_fallback) model.may_fall_back = std::strcmp(desc.options[i].value, "1") != 0;
    } else if (is_private_option(key.c_str())) {
      call->detail(call, "option", key.c_str());
      throw Failure{ENGINE_INVALID, "Models of ONNX Runtime have no option \"" + key + "\"."};
    }
  }
  if (measured) model.placement = Placement::begin(runtime, options);
  if (threads.empty()) return;
  runtime.check(api::set_intra_op_threads(runtime.table(), options,
                                          read_threads<Failure>(threads.c_str(), "the runtime", call)),
                ENGINE_INVALID);
}

engine_port describe_port(engine_model& model, HeldType type, std::string name, uint32_t flags, int* kind) {
  const Runtime& runtime = *model.engine->runtime;
  void* const* table = runtime.table();
  engine_port port{};
  port.name = model.keep(std::move(name));
  port.ndim = -1;
  port.flags = flags;
  port.dtype = {0, 0, 1};
  int what = ort_unknown_value;
  runtime.check(api::kind_of_type(table, type.get(), &what), ENGINE_CORRUPT);
  if (kind != nullptr) *kind = what;
  if (what != ort_tensor) {
    port.flags |= ENGINE_PORT_REPEATED;
    return port;
  }
  const OrtTensorInfo* info = nullptr;  // belongs to `type`
  size_t rank = 0;
  int element = 0;
  runtime.check(api::as_tensor_info(table, type.get(), &info), ENGINE_CORRUPT);
  if (info == nullptr) return port;
  runtime.check(api::element_type(table, info, &element), ENGINE_CORRUPT);
  runtime.check(api::rank(table, info, &rank), ENGINE_CORRUPT);
  port.dtype = from_ort_type(element);
  if (rank == 0) return port;  // a scalar, but up to 1.23 a tensor of unknown rank too
  std::vector<int64_t>& shape = model.shapes.emplace_back(rank);
  std::vector<const char*> names(rank);
  runtime.check(api::sizes(table, info, shape.data(), rank), ENGINE_CORRUPT);
  runtime.check(api::size_names(table, info, names.data(), rank), ENGINE_CORRUPT);
  bool named = false;
  for (const char*& one : names) {
    named = named || (one != nullptr && *one != '\0');
    one = model.keep(one == nullptr ? "" : one);
  }
  for (int64_t& size : shape) size = size < 0 ? -1 : size;
  port.ndim = static_cast<int32_t>(rank);
  port.shape = shape.data();
  if (named) port.dimensions = model.names.emplace_back(std::move(names)).data();
  return port;
}

void describe_ports(engine_model& model) {
  const Runtime& runtime = *model.engine->runtime;
  void* const* table = runtime.table();
  OrtSession* session = model.session.get();
  size_t inputs = 0, optional_inputs = 0, outputs = 0;
  runtime.check(api::input_count(table, session, &inputs), ENGINE_CORRUPT);
  runtime.check(api::overridable_count(table, session, &optional_inputs), ENGINE_CORRUPT);
  runtime.check(api::output_count(table, session, &outputs), ENGINE_CORRUPT);
  auto port = [&](auto get_name, auto get_type, size_t number, uint32_t flags, int* kind) {
    char* name = nullptr;
    HeldType type(runtime);
    runtime.check(get_name(table, session, number, runtime.allocator(), &name), ENGINE_CORRUPT);
    std::string own_name = runtime.take(name);
    runtime.check(get_type(table, session, number, type.out()), ENGINE_CORRUPT);
    return describe_port(model, std::move(type), std::move(own_name), flags, kind);
  };
  for (size_t i = 0; i < inputs; i++)
    model.inputs.push_back(port(api::input_name, api::input_type, i, 0, nullptr));
  // An initializer that the caller may replace is an optional input.
  for (size_t i = 0; i < optional_inputs; i++) {
    model.inputs.push_back(
        port(api::overridable_name, api::overridable_type, i, ENGINE_PORT_OPTIONAL, nullptr));
  }
  for (size_t i = 0; i < outputs; i++) {
    int kind = ort_unknown_value;
    model.outputs.push_back(port(api::output_name, api::output_type, i, 0, &kind));
    model.output_kinds.push_back(kind);
  }
}

void describe_metadata(engine_model& model) {
  const Runtime& runtime = *model.engine->runtime;
  void* const* table = runtime.table();
  HeldMetadata metadata(runtime);
  runtime.check(api::metadata(table, model.session.get(), metadata.out()), ENGINE_CORRUPT);
  char* text = nullptr;
  runtime.check(api::metadata_producer(table, metadata.get(), runtime.allocator(), &text), ENGINE_CORRUPT);
  std::string producer = runtime.take(text);
  if (!producer.empty()) model.metadata.push_back({"producer", model.keep(std::move(producer))});
  char** keys = nullptr;
  int64_t count = 0;
  runtime.check(api::metadata_keys(table, metadata.get(), runtime.allocator(), &keys, &count),
                ENGINE_CORRUPT);
  std::vector<std::string> own_keys;
  for (int64_t i = 0; i < count; i++) own_keys.push_back(runtime.take(keys[i]));
  if (keys != nullptr) runtime.check(api::allocator_free(table, runtime.allocator(), keys), ENGINE_INTERNAL);
  for (std::string& key : own_keys) {
    char* value = nullptr;
    runtime.check(api::metadata_lookup(table, metadata.get(), runtime.allocator(), key.c_str(), &value),
                  ENGINE_CORRUPT);
    std::string own_value = runtime.take(value);
    const char* kept_key = model.keep(std::move(key));
    model.metadata.push_back({kept_key, model.keep(std::move(own_value))});
  }
}

const engine_model_info* model_info(engine_model* model) noexcept { return &model->info; }

// Checks that the input numbers are in order and valid, and that each is given once.
void check_given(const engine_model& model, const engine_run& what, engine_call* call) {
  auto refuse = [&](const char* name, const std::string& why) {
    call->detail(call, "input", name);
    return Failure{ENGINE_INVALID, std::string("Input \"") + name + "\" " + why + "."};
  };
  std::vector<bool> given(model.inputs.size());
  for (size_t i = 0; i < what.input_count; i++) {
    uint32_t number = what.inputs[i].input;
    if (number >= model.inputs.size()) {
      throw Failure{ENGINE_INVALID, "The model has " + std::to_string(model.inputs.size()) +
                                        " inputs, and number " + std::to_string(number) + " was given."};
    }
    const engine_port& port = model.inputs[number];
    if ((port.flags & ENGINE_PORT_REPEATED) != 0) {
      call->detail(call, "input", port.name);
      throw Failure{ENGINE_UNSUPPORTED, std::string("Input \"") + port.name +
                                            "\" is a list or dictionary, which this adapter cannot pass."};
    }
    if (given[number]) throw refuse(port.name, "was given twice");
    given[number] = true;
  }
  for (size_t i = 0; i < given.size(); i++) {
    if (given[i] || (model.inputs[i].flags & ENGINE_PORT_OPTIONAL) != 0) continue;
    throw refuse(model.inputs[i].name, "is missing");
  }
}

// ONNX Runtime values that are released together.
struct Values {
  explicit Values(const Runtime& owner) : runtime(owner) {}
  ~Values() {
    for (OrtValue* value : all) {
      if (value != nullptr) api::release_value(runtime.table(), value);
    }
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  const Runtime& runtime;
  std::vector<OrtValue*> all;
};

// Outputs with a fixed type and shape are computed in the host's memory if the host offers some.
std::vector<bool> place_outputs(const engine_model& model, Values& values, engine_results* results,
                                engine_call* call) {
  std::vector<bool> placed(model.outputs.size());
  values.all.resize(model.outputs.size());
  for (size_t i = 0; i < model.outputs.size(); i++) {
    const engine_port& port = model.outputs[i];
    bool fixed = port.ndim > 0 && to_ort_type(port.dtype) != 0 && port.dtype.code != ENGINE_STRING;
    for (int32_t d = 0; fixed && d < port.ndim; d++) fixed = port.shape[d] >= 0;
    if (!fixed) continue;
    engine_tensor like = {nullptr, {ENGINE_CPU, 0}, port.ndim, port.dtype, port.shape, nullptr, 0};
    const engine_tensor* memory = results->place(results, static_cast<uint32_t>(i), nullptr, &like);
    if (memory == nullptr) continue;
    values.all[i] = borrow(values.runtime, *memory, port.name, call).leave();
    placed[i] = true;
  }
  return placed;
}

void give_output(const engine_model& model, size_t number, OrtValue* value, engine_results* results) {
  const std::shared_ptr<Runtime>& runtime = model.engine->runtime;
  void* const* table = runtime->table();
  HeldValue held(*runtime, value);
  const char* name = model.outputs[number].name;
  auto output = static_cast<uint32_t>(number);
  int kind = ort_unknown_value;
  runtime->check(api::kind_of_value(table, value, &kind), ENGINE_INTERNAL);
  if (kind == ort_tensor) {
    results->give(results, output, nullptr, wrap(runtime, std::move(held), name));
    return;
  }
  if (kind != ort_sequence) {
    throw Failure{ENGINE_UNSUPPORTED,
                  std::string("Output \"") + name + "\" is neither a tensor nor a list of them."};
  }
  size_t count = 0;
  runtime->check(api::parts_of_value(table, value, &count), ENGINE_INTERNAL);
  for (size_t i = 0; i < count; i++) {
    HeldValue part(*runtime);
    runtime->check(api::part_of_value(table, value, static_cast<int>(i), runtime->allocator(), part.out()),
                   ENGINE_UNSUPPORTED);
    results->give(results, output, nullptr, wrap(runtime, std::move(part), name));
  }
}

}  // namespace

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    const Runtime& runtime = *engine->runtime;
    if (std::strcmp(desc->format, "onnx") != 0) {
      throw Failure{ENGINE_UNSUPPORTED, std::string("The model is of the format \"") + desc->format +
                                            "\"; this engine reads \"onnx\"."};
    }
    require_own_device(*engine, desc->device, call);
    require_device(engine->devices, desc->device, call);
    if (const int error = desc->path == nullptr ? 0 : why_unreadable(desc->path); error != 0) {
      call->detail(call, "path", desc->path);
      throw Failure{
          ENGINE_INVALID,
          std::string("The model file ") + desc->path + " cannot be read: " + std::strerror(error) + ".",
          error};
    }
    auto model = std::make_unique<engine_model>(engine);
    HeldSessionOptions options(runtime);
    runtime.check(api::create_session_options(runtime.table(), options.out()), ENGINE_NO_MEMORY);
    model->device = desc->device;
    // The caller's own settings are applied later and win.
    if (desc->device.type != ENGINE_CPU) compute_on(*engine, options.get(), desc->device, call);
    set_options(*model, options.get(), *desc, call);
    call->progress(call, 0, 0, "load");
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "Loading was stopped before it began."};
    const PathText path = path_for_runtime(desc->path == nullptr ? "" : desc->path);
    OrtStatus* status = desc->path != nullptr
                            ? api::create_session(runtime.table(), runtime.environment(), path.c_str(),
                                                  options.get(), model->session.out())
                            : api::create_session_from_array(runtime.table(), runtime.environment(),
                                                             desc->data, static_cast<size_t>(desc->data_size),
                                                             options.get(), model->session.out());
    if (desc->path != nullptr && status != nullptr) call->detail(call, "path", desc->path);
    runtime.check(status, ENGINE_UNSUPPORTED);
    describe_ports(*model);
    describe_metadata(*model);
    model->function = {"main", model->inputs.data(), model->outputs.data(), model->inputs.size(),
                       model->outputs.size()};
    model->info = {sizeof model->info,     ENGINE_MODEL_CONCURRENT, &model->function, 1,
                   model->metadata.data(), model->metadata.size()};
    *out = model.release();
  });
}

void unload_model(engine_model* model) noexcept { delete model; }

engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept {
  return catch_all(call, [&] {
    const Runtime& runtime = *model->engine->runtime;
    void* const* table = runtime.table();
    if (what->function != 0)
      throw Failure{ENGINE_INVALID, "An ONNX model has one function, and that is number 0."};
    allow_options<Failure>("Runs of ONNX Runtime have", what->options, what->option_count, {}, call);
    check_given(*model, *what, call);
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "The run was stopped before it began."};

    Values inputs(runtime), outputs(runtime);
    std::vector<const char*> input_names, output_names;
    for (size_t i = 0; i < what->input_count; i++) {
      const char* name = model->inputs[what->inputs[i].input].name;
      inputs.all.push_back(nullptr);
      engine_tensor given = *what->inputs[i].tensor;
      // A provider's tensors are in host memory.
      if (given.device.type == ENGINE_OTHER_DEVICE && given.device.type == model->device.type &&
          given.device.index == model->device.index)
        given.device = {ENGINE_CPU, 0};
      inputs.all.back() = borrow(runtime, given, name, call).leave();
      input_names.push_back(name);
    }
    for (const engine_port& port : model->outputs) output_names.push_back(port.name);
    std::vector<bool> placed = place_outputs(*model, outputs, results, call);

    HeldRunOptions options(runtime);
    runtime.check(api::create_run_options(table, options.out()), ENGINE_NO_MEMORY);
    std::unique_ptr<Failure> failed;
    {
      Watcher::Watch watch(model->engine->watcher, call, options.get());
      failed = runtime.failure(
          api::run(table, model->session.get(), options.get(), input_names.data(), inputs.all.data(),
                   inputs.all.size(), output_names.data(), output_names.size(), outputs.all.data()),
          ENGINE_INVALID);
      if (failed != nullptr && watch.stopped()) failed->status = ENGINE_CANCELLED;
    }
    if (failed != nullptr) throw *failed;
    report_placement(*model, call);
    for (size_t i = 0; i < outputs.all.size(); i++) {
      if (placed[i]) continue;
      OrtValue* value = outputs.all[i];
      outputs.all[i] = nullptr;
      if (value != nullptr) give_output(*model, i, value, results);
    }
  });
}

extern const engine_model_v1 model_table = {load_model, unload_model, model_info, run_model};

}  // namespace enginehost::engines::onnxruntime
