#include "host/load/in_process/model.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/load/in_process/reported_text.hpp"

namespace enginehost::load {
namespace {

std::string problem_of_ports(const engine_port* ports, std::size_t count, const std::string& kind) {
  if (count > 0 && ports == nullptr) return "no list of the model's " + kind + "s";
  for (std::size_t i = 0; i < count; ++i) {
    const engine_port& port = ports[i];
    if (port.name == nullptr) return "no name of the model's " + kind + " " + std::to_string(i);
    // -1 means any rank.
    if (port.ndim < -1 || port.ndim > highest_rank)
      return "the rank " + std::to_string(port.ndim) + " for the model's " + kind + " " +
             reported_text(port.name);
    if (port.ndim > 0 && port.shape == nullptr)
      return "no shape of the model's " + kind + " " + reported_text(port.name) + ", whose rank is " +
             std::to_string(port.ndim);
  }
  return {};
}

}  // namespace

std::string problem_of(const engine_model_info* info) {
  if (info == nullptr) return "no description of the model";
  if (info->functions == nullptr || info->function_count == 0) return "no function of the model";
  for (std::size_t i = 0; i < info->function_count; ++i) {
    const engine_function& function = info->functions[i];
    std::string problem = problem_of_ports(function.inputs, function.input_count, "input");
    if (problem.empty()) problem = problem_of_ports(function.outputs, function.output_count, "output");
    if (!problem.empty()) return problem;
  }
  return {};
}

namespace {

// Returns the formats that the engine's capabilities name.
std::vector<std::string> formats_of(const Engine& engine) {
  std::vector<std::string> formats;
  constexpr std::string_view prefix = "format.";
  for (const std::string& capability : engine.capabilities())
    if (capability.starts_with(prefix)) formats.push_back(capability.substr(prefix.size()));
  return formats;
}

// Checks the model's path; a folder is a model for some engines. A named pipe without a writer would block
// the engine where cancellation does not reach it. A pipe among this process's own descriptors is accepted,
// because someone opened it to write.
Result<void> check_file(const std::filesystem::path& file) {
  TRY(stamp_of(file, Code::given_file_not_readable).map([](const FileStamp&) {}));
  const auto& text = generic_text(file);
  if (text.starts_with("/dev/") || text.starts_with("/proc/self/fd/")) return {};
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(file, error).type();
  if (type != std::filesystem::file_type::fifo && type != std::filesystem::file_type::socket) return {};
  const char* const kind = type == std::filesystem::file_type::fifo ? "a named pipe" : "a socket";
  return fail(diagnose(Code::given_file_not_readable)
                  .with(Key::file, path_text(file))
                  .with(Key::problem, std::string(kind) + ", not a file or a folder"));
}

Result<std::string> format_for(const Engine& engine, const ModelRequest& request) {
  const std::vector<std::string> formats = formats_of(engine);
  const auto offers = [&](const std::string& format) {
    return std::find(formats.begin(), formats.end(), format) != formats.end();
  };
  std::string extension = path_text(request.file.extension());
  if (!extension.empty()) extension.erase(0, 1);
  const std::string wanted = request.format.empty() ? to_lower(extension) : request.format;
  if (offers(wanted)) return wanted;
  if (request.format.empty() && formats.size() == 1) return formats.front();
  return fail(diagnose(Code::not_offered_by_engine)
                  .with(Key::format, wanted)
                  .with(Key::offered, join(formats, ", "), "the plugin's capabilities")
                  .with(Key::file, path_text(request.file)));
}

bool same_type(engine_dtype a, engine_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool fits(const engine_port& port, const engine_tensor& tensor) {
  if (port.dtype.bits != 0 && !same_type(port.dtype, tensor.dtype)) return false;
  if (port.ndim < 0) return true;
  if (port.ndim != tensor.ndim) return false;
  for (std::int32_t i = 0; i < port.ndim; ++i)
    if (port.shape[i] >= 0 && port.shape[i] != tensor.shape[i]) return false;
  return true;
}

// True for memory that a plugin accepts inputs from: host memory, or the device that computes.
bool is_reachable(engine_device from, engine_device computing) {
  return is_host_memory(from) || (from.type == computing.type && from.index == computing.index);
}

std::string text_of(engine_device id) {
  Device device;
  device.id = id;
  return device.text();
}

bool takes(const engine_function& function, const NamedTensor& input, std::size_t given) {
  if (input.name.empty() && given == 1 && function.input_count == 1) return true;
  return std::any_of(function.inputs, function.inputs + function.input_count,
                     [&](const engine_port& port) { return input.name == port.name; });
}

// Compares the outputs of a successful run with the model's description.
std::string problem_of(const Results& results, const engine_function& function) {
  if (!results.problem().empty()) return results.problem();
  for (const auto& output : results.outputs())
    if (const engine_device where = output->tensor().device; !is_host_memory(where))
      return "a tensor on " + text_of(where) + ", where host memory was requested";
  for (std::size_t number = 0; number < function.output_count; ++number) {
    const engine_port& port = function.outputs[number];
    if ((port.flags & (ENGINE_PORT_OPTIONAL | ENGINE_PORT_REPEATED)) != 0) continue;
    const auto& outputs = results.outputs();
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&](const std::unique_ptr<Output>& output) { return output->number == number; }))
      return "no output " + reported_text(port.name);
  }
  return {};
}

std::string names_of(const engine_function& function) {
  constexpr std::size_t most_names = 64;  // each may be long
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(function.input_count, most_names); ++i)
    names.push_back(reported_text(function.inputs[i].name) + " (" + describe_port(function.inputs[i]) + ")");
  const std::size_t left = function.input_count - names.size();
  return join(names, ", ") + (left > 0 ? " and " + std::to_string(left) + " more" : "");
}

}  // namespace

std::string name_of_type(engine_dtype type) {
  if (type.lanes != 1) {
    const std::string lanes = std::to_string(type.lanes);
    type.lanes = 1;
    return name_of_type(type) + " in " + lanes + " lanes";
  }
  const std::string bits = std::to_string(type.bits);
  if (type.code == ENGINE_STRING) return "string";
  if (type.code == ENGINE_BOOL && type.bits == 8) return "bool";
  constexpr std::pair<int, const char*> names[] = {{ENGINE_FLOAT, "float"},   {ENGINE_INT, "int"},
                                                   {ENGINE_UINT, "uint"},     {ENGINE_COMPLEX, "complex"},
                                                   {ENGINE_BFLOAT, "bfloat"}, {ENGINE_BOOL, "bool"}};
  for (const auto& [code, name] : names)
    if (code == type.code) return name + bits;
  return "type " + std::to_string(type.code) + " of " + bits + " bits";
}

std::string describe_port(const engine_port& port) {
  const std::string type = port.dtype.bits == 0 ? "any type" : name_of_type(port.dtype);
  if (port.ndim < 0) return type + " of any shape";
  std::vector<std::string> extents;
  for (std::int32_t i = 0; i < port.ndim; ++i) {
    const bool named =
        port.dimensions != nullptr && port.dimensions[i] != nullptr && port.dimensions[i][0] != '\0';
    extents.push_back(port.shape[i] >= 0 ? std::to_string(port.shape[i])
                      : named            ? reported_text(port.dimensions[i])
                                         : "?");
  }
  return type + "[" + join(extents, ", ") + "]";
}

std::string describe_tensor(const engine_tensor& tensor) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
    return name_of_type(tensor.dtype) + (tensor.ndim < 0 ? " of rank " : " without a shape, of rank ") +
           std::to_string(tensor.ndim);
  std::vector<std::string> extents;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) extents.push_back(std::to_string(tensor.shape[i]));
  return name_of_type(tensor.dtype) + "[" + join(extents, ", ") + "]";
}

Result<std::unique_ptr<Model>> Model::load(Engine& engine, const ModelRequest& request, CallOptions options) {
  TRY(check_file(request.file));
  return engine.named(load_in(engine, request, std::move(options)));
}

Result<std::unique_ptr<Model>> Model::load_in(Engine& engine, const ModelRequest& request,
                                              CallOptions options) {
  if (engine.model_table() == nullptr)
    return fail(diagnose(Code::not_offered_by_engine).with(Key::table, "engine.model/1"));
  TRY_ASSIGN(const std::string format, format_for(engine, request));
  TRY_ASSIGN(const std::vector<Device> devices, engine.devices());
  TRY_ASSIGN(const Device device, find_device(devices, request.device));

  std::vector<engine_entry> entries;
  for (const auto& [key, value] : request.options) entries.push_back({key.c_str(), value.c_str()});
  engine_model_desc description{};
  description.size = sizeof description;
  description.format = format.c_str();
  const std::string& path = path_text(request.file);
  description.path = path.c_str();
  description.device = device.id;
  description.options = entries.data();
  description.option_count = entries.size();
  Call call(std::move(options));
  engine_model* model = nullptr;
  Work work = engine.work_on(device.text(), WorkKind::preparing);
  const FloatingPointMode keep;  // a runtime that the engine opens for a model may be linked with -ffast-math
  if (auto loaded = work.ended(
          call.finish(engine.model_table()->load(engine.instance(), &description, &model, call.get())));
      !loaded)
    return fail(std::move(loaded.error().with(Key::model, path_text(request.file))));
  if (model == nullptr)
    return fail(std::move(gave_wrongly("load", "no model").with(Key::model, path_text(request.file))));
  std::unique_ptr<Model> made(new Model(engine, model, device));
  if (const std::string problem = problem_of(made->info_); !problem.empty())
    return fail(std::move(gave_wrongly("info", problem).with(Key::model, path_text(request.file))));
  return made;
}

Model::Model(Engine& engine, engine_model* model, const Device& device)
    : engine_(engine),
      model_(model),
      device_(device.id),
      device_name_(device.text()),
      info_(engine.model_table()->info(model)) {}

Model::~Model() { engine_.model_table()->unload(model_); }

Result<Model::Arranged> Model::arrange(const engine_function& function,
                                       const std::vector<NamedTensor>& inputs) const {
  // An unknown name first: it is the most frequent reason why another input seems to be missing.
  for (const NamedTensor& input : inputs)
    if (!takes(function, input, inputs.size()))
      return fail(diagnose(Code::no_such_model_input)
                      .with(Key::input, reported_text(input.name))
                      .with(Key::known, names_of(function), "the model"));
  Arranged arranged;
  arranged.tensors.reserve(function.input_count * inputs.size());  // the tensors must not move
  for (std::size_t number = 0; number < function.input_count; ++number) {
    const engine_port& port = function.inputs[number];
    bool given = false;
    for (const NamedTensor& input : inputs) {
      const bool unnamed = input.name.empty() && inputs.size() == 1 && function.input_count == 1;
      if (!unnamed && input.name != port.name) continue;
      if (given && (port.flags & ENGINE_PORT_REPEATED) == 0)
        return fail(diagnose(Code::api_argument_wrong)
                        .with(Key::argument, "inputs")
                        .with(Key::problem, "two tensors are given for the input " +
                                                reported_text(port.name) + ", which takes one"));
      TRY_ASSIGN(PassedTensor passed, PassedTensor::take(port.name, *input.tensor));
      if (!is_reachable(input.tensor->device, device_))
        return fail(diagnose(Code::input_on_other_device)
                        .with(Key::input, reported_text(port.name))
                        .with(Key::found_on, text_of(input.tensor->device))
                        .with(Key::device, device_name_));
      if (!fits(port, *input.tensor))
        return fail(diagnose(Code::tensor_does_not_fit)
                        .with(Key::input, reported_text(port.name))
                        .with(Key::given, describe_tensor(*input.tensor))
                        .with(Key::wanted, describe_port(port), "the model"));
      engine_value value{};
      value.input = static_cast<std::uint32_t>(number);
      value.tensor = &arranged.tensors.emplace_back(std::move(passed)).tensor();
      arranged.values.push_back(value);
      given = true;
    }
    if (!given && (port.flags & (ENGINE_PORT_OPTIONAL | ENGINE_PORT_REPEATED)) == 0)
      return fail(diagnose(Code::model_input_missing)
                      .with(Key::input, reported_text(port.name))
                      .with(Key::wanted, describe_port(port), "the model"));
  }
  return arranged;
}

Result<std::vector<std::unique_ptr<Output>>> Model::run_in(const engine_run& run,
                                                           const engine_function& function,
                                                           CallOptions options) {
  Results results;
  Call call(std::move(options));
  Work work = engine_.work_on(device_name_);
  TRY(work.ended(call.finish(engine_.model_table()->run(model_, &run, results.get(), call.get()))));
  if (const std::string problem = problem_of(results, function); !problem.empty())
    return fail(gave_wrongly("run", problem));
  return results.take();
}

Result<std::vector<std::unique_ptr<Output>>> Model::run(const std::vector<NamedTensor>& inputs,
                                                        CallOptions options, std::size_t function_number) {
  TRY_ASSIGN(const Arranged arranged, arrange(function(function_number), inputs));
  engine_run run{};
  run.size = sizeof run;
  run.function = static_cast<std::uint32_t>(function_number);
  run.inputs = arranged.values.data();
  run.input_count = arranged.values.size();
  run.output_device = {ENGINE_CPU, 0};
  return engine_.named(run_in(run, function(function_number), std::move(options)));
}

}  // namespace enginehost::load
