#include "tests/bench/prepared.hpp"

#include <cstdlib>

#include "host/history/store.hpp"
#include "host/open/open.hpp"
#include "tests/bench/repository.hpp"
#include "tests/bench/workplace.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

// Also records the files that the loader opens.
std::optional<Prepared> prepare(const fs::path& folder, const std::string& engine,
                                const std::vector<Part>& parts, std::string& why) {
  Prepared prepared{(folder / "cache").native(), (folder / "repository").native(), engine, {}, {}, {}};
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
  open::OpenContext context(std::move(*settings));
  open::OpenRequest request;
  request.request.engine = engine;
  const open::Outcome outcome = open::open_engine(context, request);
  if (outcome.state != open::State::opened || (!outcome.probed && !outcome.proven_before)) {
    why = "the engine could not be opened and proven" +
          (outcome.diagnosis ? ": " + std::string(outcome.diagnosis->code_text()) : "");
    return std::nullopt;
  }
  const cache::Installed& installed = outcome.opened->installed;
  prepared.view = installed.folder;
  prepared.libraries = {(installed.folder / installed.plugin).native()};
  if (const history::Record* record = context.history().find(installed.build))
    for (const Json& path : record->facts["load_order"].as_array())
      prepared.libraries.push_back(path.as_string());
  // A plugin may open its engine by itself, in create(); without these libraries the loader's part would be
  // missing.
  prepared.everything = {prepared.libraries.front()};
  for (const cache::LoadableFile& file : installed.files)
    if (file.path != installed.plugin) prepared.everything.push_back((installed.folder / file.path).native());
  return prepared;
}

}  // namespace

std::optional<Prepared> prepare_reference(std::string& why) {
  return prepare(workplace("open-reference"), "reference",
                 {{"plugin", built("engines/libengine_reference.so"), "none", "", true}}, why);
}

std::optional<Prepared> prepare_onnxruntime(std::string& why) {
  const char* runtime = std::getenv("ENGINEHOST_BENCH_ONNXRUNTIME");
  const fs::path plugin = built("engines/libengine_onnxruntime.so");
  if (runtime == nullptr || !fs::exists(runtime)) {
    why = "ENGINEHOST_BENCH_ONNXRUNTIME names no runtime";
    return std::nullopt;
  }
  if (!fs::exists(plugin)) {
    why = "the onnxruntime plugin is not built";
    return std::nullopt;
  }
  return prepare(workplace("open-onnxruntime"), "onnxruntime",
                 {{"plugin", plugin, "none", "", true}, {"runtime", runtime, "none", "", false}}, why);
}

}  // namespace enginehost::bench
