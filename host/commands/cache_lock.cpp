// engine-cache lock: writes which builds are opened, by their digests.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "base/named_file.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/catalog/repositories.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/context/locked.hpp"
#include "host/context/request.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

struct LockFlags {
  std::vector<std::string> engines, flavors, platforms;
  std::string output;
};

// The systems that EngineHost has builds for.
const std::vector<std::string>& systems() {
  static const auto& all = *new std::vector<std::string>{"linux-x86_64", "linux-aarch64", "windows-x86_64",
                                                         "macos-arm64", "macos-x86_64"};
  return all;
}

// A machine to decide for.
struct LockedMachine {
  std::string label = "this machine";
  std::optional<platform::Platform> recorded;  // nothing: this machine
  bool is_system = false;                      // only its system is known
};

Result<LockedMachine> machine_of(const std::string& given, const platform::Platform& here) {
  using Text = platform::Fact<std::string>;
  LockedMachine machine;
  if (given == here.os.value() + "-" + here.arch.value()) return machine;
  machine.label = given;
  machine.is_system = std::ranges::find(systems(), given) != systems().end();
  if (machine.is_system) {
    const std::size_t dash = given.find('-');
    machine.recorded.emplace();
    machine.recorded->os = Text::known(given.substr(0, dash), "--platform");
    machine.recorded->arch = Text::known(given.substr(dash + 1), "--platform");
    return machine;
  }
  std::error_code error;
  if (!std::filesystem::exists(path_of(given), error)) {
    const auto meant = nearest(given, systems());
    return fail(wrong_usage("engine-cache", "--platform \"" + given + "\" is neither a system (" +
                                                join(systems(), ", ") +
                                                ") nor the file of a recorded machine" +
                                                (meant ? "; did you mean " + *meant + "?" : "")));
  }
  TRY_ASSIGN(machine.recorded, recorded_platform(given));
  return machine;
}

// Returns what would be opened there now.
Result<open::LockedBuild> decide_for(const CacheRun& run, const LockedMachine& machine,
                                     const std::string& engine, const std::string& flavor) {
  settings::Settings settings = run.settings;
  settings.lock_file.clear();
  settings.installations.clear();  // files of other software have no digests
  open::OpenContext context(settings, machine.recorded, run.cancel);
  TRY_ASSIGN(resolve::Request request, request_of("engine-cache", {engine, "", flavor, "", "--flavor"}));
  if (auto refused = open::refused_by_policy(request, settings); !machine.recorded && refused)
    return fail(std::move(*refused));
  if (!machine.recorded) request = open::completed(std::move(request), open::defaults_of(settings));
  if (machine.is_system && flavor.empty()) request.device = "cpu";
  request.offline = settings.offline;
  TRY_ASSIGN(const resolve::Plan plan, open::decide(context, std::move(request)));
  if (auto forbidden = catalog::forbidden_by_name(context.catalog())) return fail(std::move(*forbidden));
  run.warn(context.warnings(), catalog::catalog_warnings(context.catalog(), settings.offline));
  const auto chosen =
      std::ranges::find(plan.candidates, resolve::Verdict::chosen, &resolve::Candidate::verdict);
  if (chosen != plan.candidates.end()) return open::locked_as(context, *chosen->build);
  // Another system compiles its plugins itself, so that only this one lacks them.
  if (machine.recorded && !plan.candidates.empty())
    if (const auto why = plan.candidates.front().diagnosis(); why && why->code == Code::no_plugin_for_build)
      return open::locked_as(context, *plan.candidates.front().build);
  Diagnosis none =
      catalog::why_nothing_is_known(context.catalog(), plan).value_or(diagnose(Code::no_build_fits));
  return fail(std::move(none.within("for " + machine.label)));
}

Result<std::vector<open::LockedBuild>> decide_all(const CacheRun& run, const LockFlags& flags) {
  std::vector<LockedMachine> machines;
  open::OpenContext here(run.settings);
  for (const std::string& given : flags.platforms) {
    TRY_ASSIGN(LockedMachine machine, machine_of(given, here.platform()));
    machines.push_back(std::move(machine));
  }
  if (machines.empty()) machines.emplace_back();
  std::vector<std::string> flavors = flags.flavors;
  if (flavors.empty()) flavors.emplace_back();
  std::vector<open::LockedBuild> builds;
  for (const LockedMachine& machine : machines) {
    decides_for(machine.recorded && !machine.is_system ? machine.label : "");
    for (const std::string& engine : flags.engines)
      for (const std::string& flavor : flavors) {
        TRY_ASSIGN(open::LockedBuild build, decide_for(run, machine, engine, flavor));
        const bool is_there = std::ranges::any_of(builds, [&](const open::LockedBuild& one) {
          return one.platform == build.platform && one.engine == build.engine && one.build == build.build;
        });
        if (!is_there) builds.push_back(std::move(build));
      }
  }
  return builds;
}

Result<Json> write_lock(const CacheRun& run, const LockFlags& flags) {
  TRY_ASSIGN(const std::filesystem::path file, place_for_file(given_path(flags.output), "engine-cache"));
  std::error_code error;
  open::LockFile lock;
  // Read before anything is decided: a file of another kind is never replaced.
  if (std::filesystem::exists(file, error)) {
    TRY_ASSIGN(lock, open::read_lock(file));
  }
  TRY_ASSIGN(const std::vector<open::LockedBuild> builds, decide_all(run, flags));
  const std::vector<open::LockedBuild> gone = open::replace_entries(lock, builds);
  TRY(explain::mark_as_argument(write_file(file, lock.document.dump(2) + "\n"), file));
  const auto row_of = [](const open::LockedBuild& one) {
    return Json::object()
        .set("platform", one.platform)
        .set("engine", one.engine)
        .set("build", one.build)
        .set("version", one.version)
        .set("flavor", one.flavor);
  };
  Json locked = Json::array(), replaced = Json::array();
  for (const open::LockedBuild& one : builds) {
    locked.push(row_of(one));
    if (run.prints_text())
      say("%s  %s %s  %s\n", one.platform.c_str(), one.engine.c_str(), one.version.c_str(),
          one.flavor.c_str());
  }
  for (const open::LockedBuild& one : gone) {
    replaced.push(row_of(one));
    if (run.prints_text())
      say("%s  %s %s  %s  is no longer locked\n", one.platform.c_str(), one.engine.c_str(),
          one.version.c_str(), one.flavor.c_str());
  }
  if (run.prints_text()) say("written: %s\n", printable_line(path_text(file)).c_str());
  return Json::object()
      .set("format", 1)
      .set("file", path_text(file))
      .set("locked", std::move(locked))
      .set("replaced", std::move(replaced));
}

}  // namespace

std::vector<CacheSubcommand> add_lock(CLI::App& app) {
  const auto flags = std::make_shared<LockFlags>();
  CLI::App* locking = app.add_subcommand("lock", "write which builds are opened, by digest, into a file");
  locking
      ->add_option("ENGINE[@VERSION]", flags->engines,
                   "the engines; without a version what would be opened now")
      ->required();
  locking
      ->add_option("-o,--output", flags->output,
                   "the lock file; what it has of other engines and "
                   "platforms stays")
      ->type_name("FILE")
      ->required();
  repeatable(locking->add_option("--platform", flags->platforms,
                                 "a system (linux-x86_64, windows-x86_64, ...) or a recorded machine "
                                 "(engine-info --platform-json) instead of this machine; repeatable"))
      ->type_name("PLATFORM");
  repeatable(locking->add_option("--flavor", flags->flavors, "exactly this flavor; repeatable"))
      ->type_name("FLAVOR");
  return {{locking, [flags](const CacheRun& run) { return write_lock(run, *flags); }}};
}

}  // namespace enginehost::commands
