// Opening an installed, proven build against the loader alone, each in a fresh process.
#include <cstdlib>

#include "host/history/store.hpp"
#include "host/open/open.hpp"
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/repository.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

struct Prepared {
  std::string cache, repository, engine;
  std::vector<std::string> libraries;   // the plugin, then what is opened before it
  std::vector<std::string> everything;  // the plugin, then every other library of the build
};

// Opens the engine once, so that it is installed, probed and proven, and learns what the loader is asked for.
std::optional<Prepared> prepare(const fs::path& folder, const std::string& engine,
                                const std::vector<Part>& parts, std::string& why) {
  Prepared prepared{(folder / "cache").native(), (folder / "repository").native(), engine, {}, {}};
  const auto manifest = manifest_of(engine, parts);
  if (!manifest || !write_repository(prepared.repository, engine, *manifest)) {
    why = "no repository could be made";
    return std::nullopt;
  }
  settings::FlagValues flags;
  flags.cache = prepared.cache;
  flags.repositories = {prepared.repository};
  flags.offline = true;
  flags.helper = built("libexec/enginehost/enginehost-probe").native();
  auto settings = settings::load_settings(flags, settings::Environment::of_this_process());
  if (!settings) {
    why = "no settings";
    return std::nullopt;
  }
  open::World world(std::move(*settings));
  open::OpenRequest request;
  request.request.engine = engine;
  const open::Outcome outcome = open::open_engine(world, request);
  if (outcome.state != open::State::opened || (!outcome.probed && !outcome.proven_before)) {
    why = "the engine could not be opened and proven" +
          (outcome.diagnosis ? ": " + outcome.diagnosis->code : "");
    return std::nullopt;
  }
  const cache::Installed& installed = outcome.opened->installed;
  prepared.libraries = {(installed.folder / installed.plugin).native()};
  if (const history::Record* record = world.history().find(installed.build))
    for (const Json& path : record->facts["load_order"].as_array())
      prepared.libraries.push_back(path.as_string());
  // A plugin may open its engine by itself, in create(); without it the loader's part would be missing.
  prepared.everything = {prepared.libraries.front()};
  for (const cache::LoadableFile& file : installed.files)
    if (file.path != installed.plugin) prepared.everything.push_back((installed.folder / file.path).native());
  return prepared;
}

Comparison compare_opens(const fs::path& folder, const std::string& engine, const std::vector<Part>& parts) {
  std::string why;
  const auto prepared = prepare(folder, engine, parts, why);
  if (!prepared) return skipped(why);
  const auto with = [](const std::string& mode, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), mode);
    return child_time(std::move(arguments));
  };
  const std::vector<std::string> request = {prepared->cache, prepared->repository, prepared->engine};
  Comparison comparison;
  comparison.sides = {{"open", with("open", request)},
                      {"dlopen", with("dlopen", prepared->everything)},
                      {"create", with("create", prepared->libraries)},
                      {"again", with("again", request)}};
  return comparison;
}

Part reference_plugin() { return {"plugin", built("engines/libengine_reference.so"), "none", "", true}; }

// A real runtime where there is one: ENGINEHOST_BENCH_ONNXRUNTIME names its libonnxruntime.so.
Comparison onnxruntime() {
  const char* runtime = std::getenv("ENGINEHOST_BENCH_ONNXRUNTIME");
  const fs::path plugin = built("engines/libengine_onnxruntime.so");
  if (runtime == nullptr || !fs::exists(runtime))
    return skipped("ENGINEHOST_BENCH_ONNXRUNTIME names no runtime");
  if (!fs::exists(plugin)) return skipped("the onnxruntime plugin is not built");
  return compare_opens(workplace("open-onnxruntime"), "onnxruntime",
                       {{"plugin", plugin, "none", "", true}, {"runtime", runtime, "none", "", false}});
}

}  // namespace

void add_open_benchmarks(const Effort& effort) {
  add_comparison(effort, "open/reference", 25, [] {
    return compare_opens(workplace("open-reference"), "reference", {reference_plugin()});
  });
  add_comparison(effort, "open/onnxruntime", 15, [] { return onnxruntime(); });
}

}  // namespace enginehost::bench
