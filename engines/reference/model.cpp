// engine.model/1: loading, describing and running models of the format "reference".
#include "engines/reference/model.hpp"

#include <cerrno>
#include <cstdio>
#include <new>

using enginehost::engines::Text;

engine_model::~engine_model() {
  for (size_t i = 0; i < values.size(); i++) {
    if (values[i].constant != nullptr) values[i].constant->release(values[i].constant);
  }
  std::free(words);
}

namespace enginehost::engines::reference {
namespace {

constexpr engine_dtype float32 = {ENGINE_FLOAT, 32, 1};
constexpr size_t largest_file = size_t{1} << 30;
constexpr size_t one_read = size_t{4} << 20;  // bytes between two checks of is_cancelled()

engine_status zero_byte(engine_call* call) {
  return refuse(call, ENGINE_CORRUPT, "reference", Text{} << "The model is not text: it holds a zero byte.");
}

// Reads the file's bytes and appends a NUL. The caller frees `out`, also after a refusal.
engine_status read_file(const char* path, char*& out, size_t& length, engine_call* call) {
  auto unreadable = [&](const char* what) {
    int error = errno;
    call->detail(call, "path", path);
    Text text;
    text << "The model file " << path << " " << what << ": " << std::strerror(error) << ".";
    return call->fail(call, ENGINE_INVALID, "errno", error, text.c_str());
  };
  std::FILE* file = open_for_reading(path);
  if (file == nullptr) return unreadable("cannot be opened");
  engine_status status = ENGINE_OK;
  size_t room = 0;
  for (length = 0; status == ENGINE_OK;) {
    if (length + 1 >= room) {
      room = room == 0 ? 65536 : room * 2;
      auto* grown = room > largest_file ? nullptr : static_cast<char*>(std::realloc(out, room));
      if (grown == nullptr) {
        status = refuse(call, ENGINE_NO_MEMORY, "reference",
                        Text{} << "There is no memory to read " << path << " into (1 GiB at most).");
        break;
      }
      out = grown;
    }
    if (call->is_cancelled(call) != 0) {
      status = refuse(call, ENGINE_CANCELLED, "reference",
                      Text{} << "The load was stopped while " << path << " was read.");
      break;
    }
    size_t left = room - length - 1;
    size_t got = std::fread(out + length, 1, left < one_read ? left : one_read, file);
    // A device, a sparse file or another engine's model is not read to its end.
    if (std::memchr(out + length, '\0', got) != nullptr) status = zero_byte(call);
    length += got;
    if (got == 0) {
      if (std::ferror(file) != 0) status = unreadable("cannot be read");
      break;
    }
  }
  std::fclose(file);
  if (status == ENGINE_OK) out[length] = '\0';
  return status;
}

bool describe(engine_model& model) {
  auto port = [](const char* name, const Shape& shape) {
    bool named = false;
    for (int32_t i = 0; i < shape.rank; i++) named = named || shape.sizes[i] < 0;
    return engine_port{
        name, shape.rank > 0 ? shape.sizes : nullptr, named ? shape.names : nullptr, shape.rank, float32, 0,
        0};
  };
  for (size_t i = 0; i < model.values.size(); i++) {
    if (model.values[i].origin != Origin::input) continue;
    if (!model.inputs.append(port(model.values[i].name, model.input_shapes[model.values[i].number])))
      return false;
  }
  for (size_t i = 0; i < model.output_values.size(); i++) {
    if (!model.outputs.append(port(model.values[model.output_values[i]].name, model.output_shapes[i])))
      return false;
  }
  model.function = {"main", model.inputs.data(), model.outputs.data(), model.inputs.size(),
                    model.outputs.size()};
  model.info = {sizeof model.info,     ENGINE_MODEL_CONCURRENT, &model.function, 1,
                model.metadata.data(), model.metadata.size()};
  return true;
}

// State of one run; its steps never see another run.
class Run {
 public:
  Run(const engine_model& model, engine_results* results, engine_call* call)
      : model_(model), results_(results), call_(call) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    for (size_t i = 0; i < slots_.size(); i++) {
      if (slots_[i].owned != nullptr) slots_[i].owned->release(slots_[i].owned);
    }
  }

  engine_status run(const engine_run& what) {
    for (size_t i = 0; i < model_.values.size(); i++) {
      const engine_owned_tensor* constant = model_.values[i].constant;
      if (!slots_.append(
              {constant != nullptr ? constant->tensor : engine_tensor{}, nullptr, constant != nullptr, -1})) {
        return no_memory();
      }
    }
    for (size_t i = 0; i < model_.output_values.size(); i++) {
      Slot& slot = slots_[model_.output_values[i]];
      if (slot.output < 0 && model_.values[model_.output_values[i]].origin == Origin::result) {
        slot.output = static_cast<int64_t>(i);
      }
    }
    for (uint32_t i = 0; i < model_.named_sizes; i++) {
      if (!sizes_.append(-1)) return no_memory();
    }
    if (engine_status status = bind(what)) return status;
    for (size_t i = 0; i < model_.steps.size(); i++) {
      if (call_->is_cancelled(call_) != 0) {
        return refuse(call_, ENGINE_CANCELLED, "reference",
                      Text{} << "The run was stopped between two steps.");
      }
      if (engine_status status = step(model_.steps[i])) return status;
    }
    return hand_over();
  }

 private:
  struct Slot {
    engine_tensor tensor;
    engine_owned_tensor* owned;  // freed with the run, unless given to the host
    bool known;
    int64_t output;  // the first output that is this value, else -1
  };
  struct SlotDestination : Destination {
    Run* run;
    uint32_t value;
  };

  engine_status no_memory() {
    return refuse(call_, ENGINE_NO_MEMORY, "reference",
                  Text{} << "There is no memory for the results of a step.");
  }
  engine_status wrong_input(const char* name, const Text& text) {
    call_->detail(call_, "input", name);
    return refuse(call_, ENGINE_INVALID, "reference", text);
  }

  // True if the shape is as declared; the first use of a name fixes its value in this run.
  bool fits(const Shape& declared, const engine_tensor& tensor) {
    if (tensor.ndim != declared.rank) return false;
    for (int32_t i = 0; i < declared.rank; i++) {
      int64_t wanted = declared.sizes[i];
      if (wanted < 0) {
        int64_t& size = sizes_[declared.named[i]];
        if (size < 0) size = tensor.shape[i];
        wanted = size;
      }
      if (tensor.shape[i] != wanted) return false;
    }
    return true;
  }
  Text& describe_shape(Text& text, const Shape& shape) {
    text << "[";
    for (int32_t i = 0; i < shape.rank; i++) {
      if (i > 0) text << ",";
      shape.sizes[i] < 0 ? text << shape.names[i] : text << shape.sizes[i];
    }
    return text << "]";
  }

  engine_status bind(const engine_run& what) {
    for (size_t i = 0; i < what.input_count; i++) {
      uint32_t port = what.inputs[i].input;
      if (port >= model_.input_values.size()) {
        return refuse(call_, ENGINE_INVALID, "reference",
                      Text{} << "The model has " << static_cast<int64_t>(model_.inputs.size())
                             << " inputs, and number " << int64_t{port} << " was given.");
      }
      const uint32_t value = model_.input_values[port];
      const char* name = model_.values[value].name;
      if (slots_[value].known)
        return wrong_input(name, Text{} << "Input \"" << name << "\" was given twice.");
      const engine_tensor& tensor = *what.inputs[i].tensor;
      Text why;
      if (!in_host_memory(tensor.device)) {
        Text text;
        (text << "Input \"" << name << "\" is on ").device(tensor.device)
            << "; this engine computes on cpu:0.";
        return wrong_input(name, text);
      }
      if (!check_tensor(tensor, why)) {
        return wrong_input(name, Text{} << "Input \"" << name << "\" " << why.c_str() << ".");
      }
      const Shape& declared = model_.input_shapes[model_.values[value].number];
      if (!is_float32(tensor.dtype) || !fits(declared, tensor)) {
        Text text;
        text << "Input \"" << name << "\" wants float32";
        describe_shape(text, declared) << ", and ";
        text.type(tensor.dtype).shape(tensor.ndim, tensor.shape) << " was given.";
        return wrong_input(name, text);
      }
      slots_[value].tensor = tensor;
      slots_[value].known = true;
    }
    for (size_t i = 0; i < model_.input_values.size(); i++) {
      const uint32_t value = model_.input_values[i];
      if (slots_[value].known) continue;
      const char* name = model_.values[value].name;
      return wrong_input(name, Text{} << "Input \"" << name << "\" is missing.");
    }
    return ENGINE_OK;
  }

  // Computes an output in the host's memory if the host offers some.
  static float* reserve(Destination* self, int32_t ndim, const int64_t* shape) {
    auto* destination = static_cast<SlotDestination*>(self);
    Run& run = *destination->run;
    Slot& slot = run.slots_[destination->value];
    if (slot.output >= 0) {
      engine_tensor like = {nullptr, {ENGINE_CPU, 0}, ndim, float32, shape, nullptr, 0};
      const engine_tensor* placed =
          run.results_->place(run.results_, static_cast<uint32_t>(slot.output), nullptr, &like);
      if (placed != nullptr) {
        slot.tensor = *placed;
        return data_of<float>(slot.tensor);
      }
    }
    slot.owned = make_host_tensor(float32, ndim, shape);
    if (slot.owned == nullptr) return nullptr;
    slot.tensor = slot.owned->tensor;
    return data_of<float>(slot.tensor);
  }

  engine_status step(const Step& step) {
    const engine_tensor* inputs[most_inputs] = {};
    for (uint32_t i = 0; i < step.input_count; i++) inputs[i] = &slots_[step.inputs[i]].tensor;
    SlotDestination destination;
    destination.reserve = &Run::reserve;
    destination.run = this;
    destination.value = step.result;
    OperationCall call = {*model_.engine->kernels,
                          step.operation->name,
                          inputs,
                          step.input_count,
                          {model_.attributes.data() + step.first_attribute, step.attribute_count},
                          destination,
                          call_};
    engine_status status = step.operation->run(call);
    if (status != ENGINE_OK) {
      refuse(call_, status, "reference",
             Text{} << "The step that computes \"" << model_.values[step.result].name << "\" failed.");
    }
    slots_[step.result].known = true;
    return status;
  }

  engine_status hand_over() {
    for (size_t i = 0; i < model_.output_values.size(); i++) {
      Slot& slot = slots_[model_.output_values[i]];
      if (!fits(model_.output_shapes[i], slot.tensor)) {
        const char* name = model_.values[model_.output_values[i]].name;
        Text text;
        describe_shape(text << "The model declares its output \"" << name << "\" as ",
                       model_.output_shapes[i]);
        text << ", and the steps computed ";
        return refuse(call_, ENGINE_CORRUPT, "reference",
                      text.shape(slot.tensor.ndim, slot.tensor.shape) << ".");
      }
    }
    // Copies come first, because a tensor may be freed once it was given away.
    for (size_t i = 0; i < model_.output_values.size(); i++) {
      Slot& slot = slots_[model_.output_values[i]];
      if (slot.output == static_cast<int64_t>(i)) continue;
      if (engine_status status = copy_out(static_cast<uint32_t>(i), slot.tensor)) return status;
    }
    for (size_t i = 0; i < model_.output_values.size(); i++) {
      Slot& slot = slots_[model_.output_values[i]];
      if (slot.output != static_cast<int64_t>(i) || slot.owned == nullptr) continue;
      engine_owned_tensor* owned = slot.owned;
      slot.owned = nullptr;
      results_->give(results_, static_cast<uint32_t>(i), nullptr, owned);
    }
    return ENGINE_OK;
  }

  // For an output that is also an input, a constant, or another output.
  engine_status copy_out(uint32_t output, const engine_tensor& from) {
    engine_tensor like = {nullptr, {ENGINE_CPU, 0}, from.ndim, float32, from.shape, nullptr, 0};
    const engine_tensor* placed = results_->place(results_, output, nullptr, &like);
    engine_owned_tensor* owned =
        placed != nullptr ? nullptr : make_host_tensor(float32, from.ndim, from.shape);
    if (placed == nullptr && owned == nullptr) return no_memory();
    const engine_tensor& to = placed != nullptr ? *placed : owned->tensor;
    size_t bytes = byte_count(float32, from.ndim, from.shape);
    if (bytes > 0) std::memcpy(data_of<void>(to), data_of<void>(from), bytes);
    if (owned != nullptr) results_->give(results_, output, nullptr, owned);
    return ENGINE_OK;
  }

  const engine_model& model_;
  engine_results* results_;
  engine_call* call_;
  Array<Slot> slots_;
  Array<int64_t> sizes_;  // the named ones; -1 until one is used
};

const engine_model_info* model_info(engine_model* model) noexcept { return &model->info; }

}  // namespace

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept {
  *out = nullptr;
  if (std::strcmp(desc->format, "reference") != 0) {
    return refuse(
        call, ENGINE_UNSUPPORTED, "reference",
        Text{} << "The model is of the format \"" << desc->format << "\"; this engine reads \"reference\".");
  }
  if (desc->device.type != ENGINE_CPU || desc->device.index != 0) {
    Text text;
    return refuse(call, ENGINE_UNAVAILABLE, "reference",
                  (text << "This engine has only cpu:0, not ").device(desc->device) << ".");
  }
  if (const char* key = unknown_option(desc->options, desc->option_count)) {
    call->detail(call, "option", key);
    return refuse(call, ENGINE_INVALID, "reference",
                  Text{} << "Models of the reference engine have no option \"" << key << "\".");
  }
  call->progress(call, 0, 0, "load");
  char* text = nullptr;
  size_t length = 0;
  engine_status status = ENGINE_OK;
  if (desc->path != nullptr) {
    status = read_file(desc->path, text, length, call);
  } else {
    length = static_cast<size_t>(desc->data_size);
    text = desc->data_size > largest_file ? nullptr : static_cast<char*>(std::malloc(length + 1));
    if (text == nullptr) {
      return refuse(call, ENGINE_NO_MEMORY, "reference", Text{} << "There is no memory to read the model.");
    }
    if (length > 0) std::memcpy(text, desc->data, length);
    text[length] = '\0';
  }
  auto* model = static_cast<engine_model*>(std::malloc(sizeof(engine_model)));
  if (model == nullptr && status == ENGINE_OK) {
    status = refuse(call, ENGINE_NO_MEMORY, "reference", Text{} << "There is no memory for a model.");
  }
  if (model != nullptr) {
    ::new (static_cast<void*>(model)) engine_model();
    model->engine = engine;
    if (status == ENGINE_OK && std::memchr(text, '\0', length) != nullptr) {
      status = zero_byte(call);
    }
    if (status == ENGINE_OK) status = read_model(text, length, *model, call);
    if (status == ENGINE_OK && !describe(*model)) {
      status = refuse(call, ENGINE_NO_MEMORY, "reference", Text{} << "There is no memory for a model.");
    }
  }
  std::free(text);
  if (status == ENGINE_OK) {
    *out = model;
  } else if (model != nullptr) {
    unload_model(model);
  }
  return status;
}

void unload_model(engine_model* model) noexcept {
  model->~engine_model();
  std::free(model);
}

engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept {
  if (what->function != 0) {
    return refuse(
        call, ENGINE_INVALID, "reference",
        Text{} << "The model has one function, and number " << int64_t{what->function} << " was requested.");
  }
  if (const char* key = unknown_option(what->options, what->option_count)) {
    call->detail(call, "option", key);
    return refuse(call, ENGINE_INVALID, "reference",
                  Text{} << "Runs of the reference engine have no option \"" << key << "\".");
  }
  return Run(*model, results, call).run(*what);
}

extern const engine_model_v1 model_table = {load_model, unload_model, model_info, run_model};

}  // namespace enginehost::engines::reference
