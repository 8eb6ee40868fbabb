// Loading, creating and destroying, unloading.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "tools/conformance/checks.hpp"
#include "tools/conformance/system.hpp"

namespace engineplugin {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int repetitions = 100;
constexpr auto repetition_limit =
    std::chrono::seconds(20);  // an engine that needs seconds to create must not fail for it

// Removes a dotted number, as 1.17, from the front of the text. Returns false if there is none.
bool drop_number(std::string_view& text) {
  for (;;) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return false;
    text.remove_prefix(digits);
    if (!text.starts_with('.')) return true;
    text.remove_prefix(1);
  }
}

// Returns true for ">=1.17,<2": bounds, separated by commas, of dotted numbers.
bool is_range(std::string_view text) {
  for (;;) {
    const std::string_view bound = text.substr(0, std::min(text.find_first_not_of("<>="), text.size()));
    if (bound != ">=" && bound != ">" && bound != "<=" && bound != "<" && bound != "==") return false;
    text.remove_prefix(bound.size());
    if (!drop_number(text)) return false;
    if (text.empty()) return true;
    if (!text.starts_with(',')) return false;
    text.remove_prefix(1);
  }
}

std::string descriptor_problem(const engine_plugin& plugin) {
  if (!plugin.engine || !*plugin.engine) return "`engine` is empty";
  if (!plugin.version || !plugin.build) return "`version` or `build` is NULL";
  if (!plugin.capabilities) return "`capabilities` is NULL";
  if (!plugin.create) return "`create` is NULL";
  if (!plugin.destroy) return "`destroy` is NULL";
  if (!plugin.facts) return "`facts` is NULL";
  if (!plugin.query) return "`query` is NULL";
  for (const char* const* name = plugin.capabilities; *name; name++) {
    if (!std::strchr(*name, '.')) return std::string("capability \"") + *name + "\" has no dot";
    const std::string text = *name, prefix = "versions.";
    if (text.rfind(prefix, 0) == 0 && !is_range(text.substr(prefix.size())))
      return "capability \"" + text + "\" is not as \"versions.>=1.17,<2\"";
    if (name != plugin.capabilities && std::strcmp(name[-1], *name) >= 0) {
      return std::string("capabilities are not sorted at \"") + *name + "\"";
    }
  }
  return "";
}

const engine_plugin* find_descriptor(void* library, const std::string& file, std::string& problem) {
  const auto* plugin = static_cast<const engine_plugin*>(find_symbol(library, ENGINE_PLUGIN_SYMBOL));
  // The search includes the library's dependencies.
  const std::filesystem::path where = plugin ? file_of(plugin) : std::filesystem::path();
  if (where.empty()) {
    problem = "the loader finds no engine_plugin_v1";
    return nullptr;
  }
  std::error_code error;
  if (!std::filesystem::equivalent(where, path_of(file), error)) {
    problem = "engine_plugin_v1 lies in " + path_text(where);
    return nullptr;
  }
  return plugin;
}

void check_unloading(Report& report, const Request& request, void* library, bool unloadable,
                     int threads_before) {
  report.begin("unload");
  if (!unloadable) {
    report.end(true, "not marked UNLOADABLE: hosts keep it loaded");
    return;
  }
  for (int i = 0; i < repetitions; i++) {
    close_library(library);
    if (is_loaded(request.file)) {
      report.end(
          false,
          "still loaded after it was closed (nodelete, a unique symbol, or a thread-local destructor)");
      return;
    }
    if (const int threads = thread_count(); threads > threads_before) {
      report.end(false, std::to_string(threads - threads_before) +
                            " threads of the plugin live on after it was closed");
      return;
    }
    library = open_library(request.file);
    if (!library) {
      report.end(false, std::string("loading again: ") + last_error());
      return;
    }
    std::string problem;
    const engine_plugin* plugin = find_descriptor(library, request.file, problem);
    if (plugin) problem = Instance(*plugin, request).problem();
    if (!problem.empty()) {
      report.end(false, "round " + std::to_string(i + 1) + ": " + problem);
      return;
    }
  }
  close_library(library);
  report.end(true, std::to_string(repetitions) + " times unloaded and loaded again");
}

// Checks everything that one engine offers.
void check_engine(Report& report, const Request& request, const engine_plugin& plugin) {
  const Instance instance(plugin, request);
  report.begin("create.again");
  if (!report.end(instance.problem(), "an engine was made")) return;
  if (!check_tables(report, plugin, instance)) return;
  check_devices(report, instance);
  check_selftest(report, instance);
  check_tensors(report, instance);
  check_operations(report, instance);
  check_models(report, request, plugin, instance);
  report.begin("host.untouched");
  const bool untouched = instance.host_untouched();
  report.end(untouched, untouched ? "nothing is written behind the engine_host it knows"
                                  : "bytes behind the engine_host it knows were written");
  report.begin("query.null");  // last, because it is the most likely to crash
  const bool null_answer = instance.query(nullptr) == nullptr;
  report.end(null_answer, null_answer ? "NULL for NULL" : "a NULL id has an answer");
}

}  // namespace

std::vector<engine_entry> option_entries(const Request& request) {
  std::vector<engine_entry> entries;
  for (const auto& [key, value] : request.options) entries.push_back({key.c_str(), value.c_str()});
  return entries;
}

Instance::Instance(const engine_plugin& plugin, const Request& request)
    : plugin_(plugin), host_(request.root) {
  const auto entries = option_entries(request);
  CheckCall call;
  const engine_status status =
      plugin.create(host_.get(), entries.data(), entries.size(), &engine_, call.get());
  if (status != ENGINE_OK) {
    problem_ = "create() returned " + call.describe(status);
    if (engine_) problem_ += ", and left something in *out";
    engine_ = nullptr;
  } else if (!engine_) {
    problem_ = "create() returned OK and left NULL in *out";
  } else if (!call.tail_untouched()) {
    problem_ = "create() wrote behind the engine_call it knows";
  }
}

Instance::~Instance() {
  if (engine_) plugin_.destroy(engine_);
  end_copy();
}

const void* Instance::query(const char* id) const {
  const void* table = plugin_.query(engine_, id);
  end_copy();
  return table;
}

void check_lifetime(Report& report, const Request& request, const engine_plugin& plugin) {
  report.begin("create.repeat");
  const auto begin = Clock::now();
  int rounds = 0;
  std::string problem;
  while (rounds < repetitions && Clock::now() - begin < repetition_limit && problem.empty()) {
    problem = Instance(plugin, request).problem();
    rounds++;
  }
  report.end(problem, "created and destroyed " + std::to_string(rounds) + " times");

  report.begin("create.two");
  const Instance one(plugin, request), two(plugin, request);
  problem = one.problem().empty() ? two.problem() : one.problem();
  if (problem.empty() && one.get() == two.get()) problem = "both are the same object";
  report.end(problem, "two engines live side by side");

  report.begin("create.cancelled");
  {
    const auto entries = option_entries(request);
    const CheckHost host(request.root);
    CheckCall call;
    call.cancel();
    engine_instance* engine = nullptr;
    const engine_status status =
        plugin.create(host.get(), entries.data(), entries.size(), &engine, call.get());
    problem = status == ENGINE_OK ? "" : call.problem_unless_failed(status, {ENGINE_CANCELLED});
    if (problem.empty() && (status == ENGINE_OK) != (engine != nullptr)) problem = "status and *out disagree";
    if (engine) plugin.destroy(engine);
    report.end(problem, status == ENGINE_OK ? "done before the first look" : "CANCELLED");
  }

  report.begin("create.unknown_option");
  {
    auto entries = option_entries(request);
    entries.push_back({"a_word_of_the_future", "1"});
    const CheckHost host(request.root);
    CheckCall tolerant;
    engine_instance* engine = nullptr;
    engine_status status = plugin.create(host.get(), entries.data(), entries.size(), &engine, tolerant.get());
    problem = status == ENGINE_OK ? "" : "a key without a dot must be ignored: " + tolerant.describe(status);
    if (engine) plugin.destroy(engine);
    entries.back() = {"nobody.knows.this", "1"};
    CheckCall strict;
    engine = nullptr;
    status = plugin.create(host.get(), entries.data(), entries.size(), &engine, strict.get());
    if (status == ENGINE_OK && engine) plugin.destroy(engine);
    if (problem.empty()) problem = strict.problem_unless_failed(status, {ENGINE_INVALID});
    report.end(problem, "without a dot ignored, with a dot INVALID");
  }
}

void check_loaded(Report& report, const Request& request) {
  const ProcessState before = ProcessState::now();
  const int threads_before = thread_count();

  report.begin("load.open");
  void* library = open_library(request.file);
  if (!report.end(library != nullptr, library ? how_opened : last_error())) return;

  report.begin("load.symbol");
  std::string problem;
  const engine_plugin* plugin = find_descriptor(library, request.file, problem);
  if (!report.end(problem, "engine_plugin_v1 lies in this file")) return;

  report.begin("load.descriptor");
  if (!report.end(descriptor_problem(*plugin), std::string(plugin->engine ? plugin->engine : "") + " " +
                                                   (plugin->version ? plugin->version : ""))) {
    return;
  }

  report.begin("create");
  {
    const Instance instance(*plugin, request);
    if (!report.end(instance.problem(), "an engine was made")) return;
  }
  check_lifetime(report, request, *plugin);
  check_engine(report, request, *plugin);
  const bool unloadable = plugin->flags & ENGINE_PLUGIN_UNLOADABLE;
  check_unloading(report, request, library, unloadable, threads_before);

  report.begin("host.after_destroy");
  const int late = CheckHost::calls_after_destroy();
  report.end(late == 0, late == 0 ? "nothing of the host is called once destroy() has returned"
                                  : std::to_string(late) +
                                        " calls of host->log() or host->query() came after "
                                        "destroy() had returned");
  report.begin("process.state");
  report.end(before.difference(ProcessState::now()),
             "signals, locale, folder, environment, open files and floating-point mode are as before");
}

}  // namespace engineplugin
