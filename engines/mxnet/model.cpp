// engine.model/1 over a symbol and its parameters.
#include <cstring>
#include <list>
#include <set>

#include "engines/mxnet/files.hpp"
#include "engines/mxnet/instance.hpp"
#include "engines/support/options.hpp"

struct engine_model {
  std::shared_ptr<enginehost::engines::mxnet::Runtime> runtime;
  engine_device device{};
  enginehost::engines::mxnet::Network network;
  // For the shapes of the last run.
  std::unique_ptr<enginehost::engines::mxnet::Prepared> prepared;
  std::vector<engine_port> inputs, outputs;
  engine_function function{};
  engine_model_info info{};
  std::list<std::string> texts;  // storage that the ports point into

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

namespace enginehost::engines::mxnet {
namespace {

// Returns the requested parameter file, or nullptr.
const char* check_description(const engine_instance& engine, const engine_model_desc& desc,
                              engine_call* call) {
  if (std::strcmp(desc.format, "mxnet") != 0) {
    throw Failure{ENGINE_UNSUPPORTED, std::string("The model is of the format \"") + desc.format +
                                          "\"; this engine reads \"mxnet\"."};
  }
  allow_options<Failure>("Models of MXNet have", desc.options, desc.option_count, {"mxnet.params"}, call);
  const char* parameters = find_entry(desc.options, desc.option_count, "mxnet.params");
  require_device(engine.devices, desc.device, call);
  if (desc.path == nullptr) {
    throw Failure{ENGINE_INVALID,
                  "A model of MXNet is two files, a symbol and its parameters; name the symbol's file."};
  }
  return parameters;
}

class HeldSymbol {
 public:
  HeldSymbol(const Runtime& runtime, const std::string& json) : runtime_(runtime) {
    runtime_.check(runtime_->MXSymbolCreateFromJSON(json.c_str(), &symbol_), ENGINE_CORRUPT);
  }
  ~HeldSymbol() { runtime_->MXSymbolFree(symbol_); }
  HeldSymbol(const HeldSymbol&) = delete;
  HeldSymbol& operator=(const HeldSymbol&) = delete;

  // `list` is one of MXNet's three functions that list names.
  std::vector<std::string> names(int (*list)(Symbol, uint32_t*, const char***)) const {
    uint32_t count = 0;
    const char** texts = nullptr;
    runtime_.check(list(symbol_, &count, &texts), ENGINE_CORRUPT);
    return {texts, texts + count};
  }

 private:
  const Runtime& runtime_;
  Symbol symbol_ = nullptr;
};

// Returns the names that the file has values for, such as "arg:fully_connected_weight" and
// "aux:norm_moving_mean".
std::set<std::string> names_of_parameters(const Runtime& runtime, const std::string& bytes) {
  uint32_t array_count = 0, name_count = 0;
  Array* arrays = nullptr;
  const char** names = nullptr;
  runtime.check(runtime->MXNDArrayLoadFromBuffer(bytes.data(), bytes.size(), &array_count, &arrays,
                                                 &name_count, &names),
                ENGINE_CORRUPT);
  std::set<std::string> out;
  for (uint32_t i = 0; i < name_count; i++) {
    const std::string name = names[i];
    out.insert(name.compare(0, 4, "arg:") == 0 || name.compare(0, 4, "aux:") == 0 ? name.substr(4) : name);
  }
  const std::vector<Array> held(arrays, arrays + array_count);
  for (Array array : held) runtime->MXNDArrayFree(array);
  return out;
}

bool is_label(const std::string& name) {
  const std::string end = "label";
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

// Inputs are the arguments of the network without parameters. The files contain no shapes and types.
void describe_ports(engine_model& model) {
  const Runtime& runtime = *model.runtime;
  const HeldSymbol symbol(runtime, model.network.symbol);
  const std::set<std::string> given = names_of_parameters(runtime, model.network.parameters);
  auto port = [&](const std::string& name, uint32_t flags) {
    engine_port out{};
    out.name = model.keep(name);
    out.ndim = -1;
    out.dtype = {0, 0, 1};
    out.flags = flags;
    return out;
  };
  for (const std::string& name : symbol.names(runtime->MXSymbolListArguments)) {
    // The label of a loss is an input for training; a prediction omits it.
    if (given.count(name) == 0) model.inputs.push_back(port(name, is_label(name) ? ENGINE_PORT_OPTIONAL : 0));
  }
  for (const std::string& name : symbol.names(runtime->MXSymbolListAuxiliaryStates)) {
    if (given.count(name) != 0) continue;
    throw Failure{ENGINE_CORRUPT, "The parameters hold no value for the state \"" + name + "\"."};
  }
  for (const std::string& name : symbol.names(runtime->MXSymbolListOutputs))
    model.outputs.push_back(port(name, 0));
}

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    const char* parameters = check_description(*engine, *desc, call);
    call->progress(call, 0, 0, "load");
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "Loading was stopped before it began."};
    auto model = std::make_unique<engine_model>();
    model->runtime = engine->runtime;
    model->device = desc->device;
    model->network = read_network(desc->path, parameters, call);
    try {
      describe_ports(*model);
    } catch (const Failure&) {
      call->detail(call, "path", desc->path);
      throw;
    }
    model->function = {"main", model->inputs.data(), model->outputs.data(), model->inputs.size(),
                       model->outputs.size()};
    model->info = {sizeof model->info, 0, &model->function, 1, nullptr, 0};
    *out = model.release();
  });
}

void unload_model(engine_model* model) noexcept { delete model; }

const engine_model_info* model_info(engine_model* model) noexcept { return &model->info; }

std::vector<GivenInput> check_given(const engine_model& model, const engine_run& what, engine_call* call) {
  auto refuse = [&](const char* name, const std::string& why) {
    call->detail(call, "input", name);
    return Failure{ENGINE_INVALID, std::string("Input \"") + name + "\" " + why + "."};
  };
  std::vector<GivenInput> out;
  std::vector<bool> given(model.inputs.size());
  for (size_t i = 0; i < what.input_count; i++) {
    const uint32_t number = what.inputs[i].input;
    if (number >= given.size()) {
      throw Failure{ENGINE_INVALID, "The model has " + std::to_string(given.size()) + " inputs, and number " +
                                        std::to_string(number) + " was given."};
    }
    const char* name = model.inputs[number].name;
    if (given[number]) throw refuse(name, "was given twice");
    given[number] = true;
    check_input(*what.inputs[i].tensor, name, call);
    out.push_back({name, what.inputs[i].tensor});
  }
  for (size_t i = 0; i < given.size(); i++) {
    if (!given[i] && (model.inputs[i].flags & ENGINE_PORT_OPTIONAL) == 0)
      throw refuse(model.inputs[i].name, "is missing");
  }
  return out;
}

engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept {
  return catch_all(call, [&] {
    if (what->function != 0)
      throw Failure{ENGINE_INVALID, "A model of MXNet has one function, and that is number 0."};
    allow_options<Failure>("Runs of MXNet have", what->options, what->option_count, {}, call);
    const std::vector<GivenInput> inputs = check_given(*model, *what, call);
    if (model->prepared == nullptr || !model->prepared->fits(inputs)) {
      model->prepared.reset();  // frees the memory before its successor is made, because both would hold the
                                // whole network
      model->prepared = std::make_unique<Prepared>(model->runtime, model->device, model->network, inputs);
    }
    model->prepared->run(inputs, model->outputs.size(), false, results, call);
  });
}

}  // namespace

extern const engine_model_v1 model_table = {load_model, unload_model, model_info, run_model};

}  // namespace enginehost::engines::mxnet
