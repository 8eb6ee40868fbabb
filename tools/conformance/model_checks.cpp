// engine.model/1: the refusals, and for a named model its loading and description.
#include <cstring>

#include "tools/conformance/checks.hpp"

namespace engineplugin {
namespace {

engine_device first_device(const Instance& instance) {
  const auto devices = devices_of(instance);
  return devices.empty() ? engine_device{ENGINE_CPU, 0} : devices.front().device;
}

// Runs a load that must fail with one of `allowed`, a message and NULL in *out.
std::string refusal_problem(const engine_model_v1& table, engine_instance* engine,
                            const engine_model_desc& desc, const std::vector<engine_status>& allowed) {
  engine_model* model = nullptr;
  CheckCall call;
  const engine_status status = table.load(engine, &desc, &model, call.get());
  if (status == ENGINE_OK && model) table.unload(model);
  std::string problem = call.problem_unless_failed(status, allowed);
  if (problem.empty() && model) problem = "it failed and left something in *out";
  return problem;
}

std::string port_problem(const engine_port* ports, size_t count, const std::string& of) {
  if (!ports && count > 0) return of + " is NULL, and says that it has " + std::to_string(count);
  for (size_t p = 0; p < count; p++) {
    const engine_port& port = ports[p];
    if (!port.name) return of + ": port " + std::to_string(p) + " has no name";
    if (port.ndim > 0 && !port.shape)
      return std::string("port \"") + port.name + "\" has a rank and no shape";
    if (port.ndim < -1)
      return std::string("port \"") + port.name + "\" has rank " + std::to_string(port.ndim);
  }
  return "";
}

std::string info_problem(const engine_model_info* info) {
  if (!info) return "info() is NULL";
  if (info->size < sizeof(engine_model_info)) return "info()->size is too small";
  if (info->function_count == 0) return "it has no function";
  if (!info->functions)
    return "`functions` is NULL, and `function_count` is " + std::to_string(info->function_count);
  for (size_t f = 0; f < info->function_count; f++) {
    const engine_function& function = info->functions[f];
    if (!function.name) return "a function has no name";
    const std::string of = std::string(" of function \"") + function.name + "\"";
    std::string problem = port_problem(function.inputs, function.input_count, "`inputs`" + of);
    if (problem.empty()) problem = port_problem(function.outputs, function.output_count, "`outputs`" + of);
    if (!problem.empty()) return problem;
  }
  if (!info->metadata && info->metadata_count > 0)
    return "`metadata` is NULL, and `metadata_count` is " + std::to_string(info->metadata_count);
  for (size_t i = 0; i < info->metadata_count; i++) {
    if (!info->metadata[i].key || !info->metadata[i].value)
      return "metadata " + std::to_string(i) + " has a NULL";
  }
  return "";
}

// A run without its inputs must be refused, and must leave the model usable.
std::string empty_run_problem(const engine_model_v1& table, engine_instance* engine,
                              const engine_model_desc& desc) {
  engine_model* model = nullptr;
  CheckCall loading;
  const engine_status loaded = table.load(engine, &desc, &model, loading.get());
  if (loaded != ENGINE_OK || !model) return "load() returned " + loading.describe(loaded);
  const engine_function& function = table.info(model)->functions[0];
  bool needs_input = false;
  for (size_t i = 0; i < function.input_count; i++) {
    needs_input = needs_input || !(function.inputs[i].flags & (ENGINE_PORT_OPTIONAL | ENGINE_PORT_REPEATED));
  }
  std::string problem;
  if (needs_input) {
    Enlarged<engine_run> run;
    CheckResults results(false);
    CheckCall call;
    const engine_status status = table.run(model, &run.value, results.get(), call.get());
    problem = call.problem_unless_failed(status, {ENGINE_INVALID});
  }
  table.unload(model);
  return problem.empty() ? "" : "run() without inputs " + problem;
}

void check_named_model(Report& report, const Request& request, const engine_model_v1& table,
                       const Instance& instance) {
  report.begin("model.load");
  Enlarged<engine_model_desc> desc;
  desc.value.format = request.format.c_str();
  desc.value.path = request.model.c_str();
  desc.value.device = first_device(instance);
  std::string problem;
  size_t functions = 0;
  for (int i = 0; i < 10 && problem.empty(); i++) {
    engine_model* model = nullptr;
    CheckCall call;
    const engine_status status = table.load(instance.get(), &desc.value, &model, call.get());
    if (status != ENGINE_OK || !model) {
      problem = "load() returned " + call.describe(status);
      break;
    }
    const engine_model_info* info = table.info(model);
    problem = info_problem(info);
    if (problem.empty()) functions = info->function_count;
    table.unload(model);
  }
  report.end(problem, "10 times loaded, described and unloaded; functions: " + std::to_string(functions));
  if (!problem.empty()) return;
  report.begin("model.run_without_inputs");
  report.end(empty_run_problem(table, instance.get(), desc.value), "INVALID with a message");
}

}  // namespace

void check_models(Report& report, const Request& request, const engine_plugin& plugin,
                  const Instance& instance) {
  const auto* table = instance.table<engine_model_v1>(ENGINE_MODEL_V1);
  if (!table) {
    report.begin("model");
    report.end(request.model.empty(), "engine.model/1 is not offered");
    return;
  }
  const char garbage[] = "this is no model of any format";
  engine_model_desc desc{};
  desc.size = sizeof desc;
  desc.device = first_device(instance);
  desc.format = "no_such_format";
  desc.data = garbage;
  desc.data_size = sizeof garbage;
  report.begin("model.unknown_format");
  report.end(refusal_problem(*table, instance.get(), desc, {ENGINE_UNSUPPORTED}),
             "UNSUPPORTED with a message");

  for (const char* const* name = plugin.capabilities; *name; name++) {
    if (std::strncmp(*name, "format.", 7) != 0) continue;
    desc.format = *name + 7;
    report.begin(std::string("model.garbage.") + desc.format);
    report.end(
        refusal_problem(*table, instance.get(), desc, {ENGINE_CORRUPT, ENGINE_INVALID, ENGINE_UNSUPPORTED}),
        "refused with a message");
    engine_model_desc missing = desc;
    missing.data = nullptr;
    missing.data_size = 0;
    missing.path = "/nonexistent/model";
    report.begin(std::string("model.missing_file.") + desc.format);
    report.end(refusal_problem(*table, instance.get(), missing, {}), "refused with a message");
  }
  if (!request.model.empty()) check_named_model(report, request, *table, instance);
}

}  // namespace engineplugin
