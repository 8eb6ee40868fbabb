// engine.model/1 over a SavedModel.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <list>

#include "engines/support/options.hpp"
#include "engines/support/port.hpp"
#include "engines/support/system.hpp"
#include "engines/tensorflow/instance.hpp"
#include "engines/tensorflow/run.hpp"
#include "engines/tensorflow/saved_model.hpp"

namespace enginehost::engines::tensorflow {
namespace {

struct Method {
  std::vector<engine_port> inputs, outputs;
  std::vector<TF_Output> fed, fetched;
};

}  // namespace
}  // namespace enginehost::engines::tensorflow

struct engine_model {
  const engine_host* host = nullptr;
  std::unique_ptr<enginehost::engines::tensorflow::Session> session;
  bool copies_inputs = true;
  std::list<enginehost::engines::tensorflow::Method> methods;
  std::vector<engine_function> functions;
  std::vector<engine_entry> metadata;
  engine_model_info info{};
  // Storage that the ports point into; lists, because their elements do not move.
  std::list<std::string> texts;
  std::list<std::vector<int64_t>> shapes;
  std::list<std::vector<const char*>> names;

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

namespace enginehost::engines::tensorflow {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out(1);
  for (char one : text) {
    if (one == ',') {
      out.emplace_back();
    } else {
      out.back() += one;
    }
  }
  return out;
}

// "tensorflow.tags" selects one of the file's graphs, as in "serve" or "serve,gpu".
std::vector<std::string> check_description(const engine_instance& engine, const engine_model_desc& desc,
                                           engine_call* call) {
  if (std::strcmp(desc.format, "savedmodel") != 0) {
    throw Failure{ENGINE_UNSUPPORTED, std::string("The model is of the format \"") + desc.format +
                                          "\"; this engine reads \"savedmodel\"."};
  }
  allow_options<Failure>("Models of TensorFlow have", desc.options, desc.option_count,
                         {"tensorflow.tags", "placement"}, call);
  const char* placement = find_entry(desc.options, desc.option_count, "placement");
  if (placement != nullptr && std::strcmp(placement, "measure") != 0) {
    call->detail(call, "option", "placement");
    throw Failure{ENGINE_INVALID, "The option placement can only be \"measure\"."};
  }
  const char* given = find_entry(desc.options, desc.option_count, "tensorflow.tags");
  const std::vector<std::string> tags = split(given != nullptr ? given : "serve");
  require_device(engine.devices, desc.device, call);
  if (desc.path == nullptr)
    throw Failure{ENGINE_INVALID, "A SavedModel is a folder and cannot be loaded from memory."};
  const std::string file = std::string(desc.path) + "/saved_model.pb";
  if (std::FILE* readable = open_for_reading(file.c_str())) {
    std::fclose(readable);
  } else {
    const int error = errno;
    call->detail(call, "path", file.c_str());
    throw Failure{ENGINE_INVALID, "A SavedModel is a folder with a file saved_model.pb, and " + file +
                                      " cannot be read: " + std::strerror(error) + "."};
  }
  return tags;
}

engine_port describe(engine_model& model, const Endpoint& endpoint) {
  engine_port port{};
  port.name = model.keep(endpoint.name);
  port.dtype = from_tensorflow_type(endpoint.type);
  port.ndim = -1;
  if (!endpoint.known_rank) return port;
  port.ndim = static_cast<int32_t>(endpoint.sizes.size());
  port.shape = model.shapes.emplace_back(endpoint.sizes).data();
  const bool named = std::any_of(endpoint.names.begin(), endpoint.names.end(),
                                 [](const auto& name) { return !name.empty(); });
  if (!named) return port;
  std::vector<const char*>& names = model.names.emplace_back();
  for (const std::string& name : endpoint.names) names.push_back(model.keep(name));
  port.dimensions = names.data();
  return port;
}

TF_Output find(const Session& session, const Signature& signature, const Endpoint& endpoint) {
  TF_Operation* operation =
      (*session.runtime())->TF_GraphOperationByName(session.graph(), endpoint.operation.c_str());
  if (operation == nullptr || endpoint.index >= (*session.runtime())->TF_OperationNumOutputs(operation)) {
    throw Failure{ENGINE_CORRUPT, "The signature \"" + signature.name + "\" names " + endpoint.operation +
                                      ":" + std::to_string(endpoint.index) + " for \"" + endpoint.name +
                                      "\", which its graph does not have."};
  }
  return {operation, endpoint.index};
}

void describe_functions(engine_model& model, const MetaGraph& graph) {
  for (const Signature& signature : graph.signatures) {
    Method& method = model.methods.emplace_back();
    for (const Endpoint& one : signature.inputs) {
      method.fed.push_back(find(*model.session, signature, one));
      method.inputs.push_back(describe(model, one));
    }
    for (const Endpoint& one : signature.outputs) {
      method.fetched.push_back(find(*model.session, signature, one));
      method.outputs.push_back(describe(model, one));
    }
    model.functions.push_back({model.keep(signature.name), method.inputs.data(), method.outputs.data(),
                               method.inputs.size(), method.outputs.size()});
  }
  if (!model.functions.empty()) return;
  std::string why = graph.left_out.empty() ? "" : " (" + graph.left_out.front() + ")";
  throw Failure{ENGINE_UNSUPPORTED, "The SavedModel has no signature that can be run" + why + "."};
}

// Operations that keep state must not get the caller's memory, which is gone after the run. A function call
// always counts as stateful, so the check reads the operations in the function instead.
bool keeps_state(const MetaGraph& graph, const std::set<std::string>& stateless) {
  return std::any_of(graph.operations.begin(), graph.operations.end(), [&](const std::string& kind) {
    return kind != "StatefulPartitionedCall" && stateless.count(kind) == 0;
  });
}

engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept {
  *out = nullptr;
  return catch_all(call, [&] {
    const std::vector<std::string> tags = check_description(*engine, *desc, call);
    call->progress(call, 0, 0, "load");
    if (call->is_cancelled(call) != 0)
      throw Failure{ENGINE_CANCELLED, "Loading was stopped before it began."};
    auto model = std::make_unique<engine_model>();
    model->host = engine->host;
    std::string description;
    try {
      model->session = std::make_unique<Session>(engine->runtime, Place{desc->device, engine->threads},
                                                 desc->path, tags, description);
    } catch (Failure& failure) {
      call->detail(call, "path", desc->path);
      // "Could not find meta graph def matching supplied tags: ...": the file is intact, the request is
      // wrong.
      if (failure.native == code_not_found && failure.message.find("tags") != std::string::npos) {
        call->detail(call, "option", "tensorflow.tags");
        failure.status = ENGINE_INVALID;
      }
      throw;
    }
    if (find_entry(desc->options, desc->option_count, "placement") != nullptr)
      model->session->measure_placement();
    const MetaGraph graph = read_meta_graph(description);
    describe_functions(*model, graph);
    model->copies_inputs = keeps_state(graph, engine->runtime->stateless());
    std::string joined;
    for (const std::string& tag : graph.tags) joined += (joined.empty() ? "" : ",") + tag;
    model->metadata.push_back({"tags", model->keep(joined)});
    if (!graph.version.empty())
      model->metadata.push_back({"producer", model->keep("tensorflow " + graph.version)});
    for (const std::string& one : graph.left_out) model->metadata.push_back({"left_out", model->keep(one)});
    model->info = {sizeof model->info,      ENGINE_MODEL_CONCURRENT, model->functions.data(),
                   model->functions.size(), model->metadata.data(),  model->metadata.size()};
    *out = model.release();
  });
}

void unload_model(engine_model* model) noexcept { delete model; }

const engine_model_info* model_info(engine_model* model) noexcept { return &model->info; }

engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept {
  return catch_all(call, [&] {
    if (what->function >= model->methods.size()) {
      throw Failure{ENGINE_INVALID, "The model has " + std::to_string(model->methods.size()) +
                                        " functions, and number " + std::to_string(what->function) +
                                        " was requested."};
    }
    allow_options<Failure>("Runs of TensorFlow have", what->options, what->option_count, {}, call);
    const Method& method = *std::next(model->methods.begin(), static_cast<std::ptrdiff_t>(what->function));
    auto refuse = [&](const char* name, const std::string& why) {
      call->detail(call, "input", name);
      return Failure{ENGINE_INVALID, std::string("Input \"") + name + "\" " + why + "."};
    };
    std::vector<bool> given(method.inputs.size());
    std::vector<TF_Output> fed;
    std::vector<HeldTensor> values;
    for (size_t i = 0; i < what->input_count; i++) {
      const uint32_t number = what->inputs[i].input;
      if (number >= given.size()) {
        throw Failure{ENGINE_INVALID, "The function has " + std::to_string(given.size()) +
                                          " inputs, and number " + std::to_string(number) + " was given."};
      }
      const engine_port& port = method.inputs[number];
      if (given[number]) throw refuse(port.name, "was given twice");
      given[number] = true;
      const engine_tensor& tensor = *what->inputs[i].tensor;
      if (!fits_port(port, tensor)) throw refuse(port.name, misfit(port, tensor).c_str());
      fed.push_back(method.fed[number]);
      values.push_back(hand_in(model->session->runtime(), tensor, port.name, model->copies_inputs, call));
    }
    for (size_t i = 0; i < given.size(); i++) {
      if (!given[i]) throw refuse(method.inputs[i].name, "is missing");
    }
    std::vector<HeldTensor> made =
        run_session(*model->session, model->host, fed, values, method.fetched, call);
    // Memory shared between a result and an input can only be detected while the input is held.
    for (size_t i = 0; i < made.size(); i++)
      hand_out(std::move(made[i]), static_cast<uint32_t>(i), method.outputs[i].name, results);
  });
}

}  // namespace

extern const engine_model_v1 model_table = {load_model, unload_model, model_info, run_model};

}  // namespace enginehost::engines::tensorflow
