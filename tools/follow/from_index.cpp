#include "tools/follow/from_index.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/lock.hpp"
#include "host/manifest/catalog.hpp"
#include "tools/follow/layout.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr int priority_of_derived = -1000;
constexpr std::uint64_t largest_manifest = 8u << 20;

Result<std::optional<Json>> manifest_in(const publish::Workspace& workspace, const std::string& engine) {
  TRY_ASSIGN(const std::vector<fs::path> files, workspace.engine_files());
  for (const fs::path& file : files) {
    TRY_ASSIGN(const std::string text, read_file(file, largest_manifest));
    TRY_ASSIGN(Json document, parse_json(text, path_text(file)));
    if (document["engine"].as_string() == engine) return std::optional(std::move(document));
  }
  return std::nullopt;
}

// A component of another folder: its files are named by their absolute paths.
Json moved(const Json& component, const fs::path& folder) {
  Json artifacts = Json::array();
  for (Json artifact : component["artifacts"].as_array()) {
    Json sources = Json::array();
    for (Json source : artifact["sources"].as_array()) {
      const std::string file = source["file"].as_string();
      if (!file.empty() && !path_of(file).is_absolute())
        source.set("file", path_text(folder / path_of(file)));
      sources.push(std::move(source));
    }
    artifacts.push(std::move(artifact.set("sources", std::move(sources))));
  }
  Json result = component;
  result.set("artifacts", std::move(artifacts));
  return result;
}

class FromIndexRun {
 public:
  FromIndexRun(const FromIndexRequest& request, Plan& plan, Json own)
      : request_(request), plan_(plan), own_(std::move(own)) {}

  // Leaves only the rows that count in the plan, so that nothing is fetched for others.
  Result<void> choose_rows();
  Result<FromIndex> derive(const Derivation& derivation);
  Result<void> write(std::int64_t now) const;

 private:
  Diagnosis refusal(const std::string& problem, const std::string& remedy) const {
    return not_as_planned(plan_.engine, request_.version, "", problem, remedy);
  }
  // Returns why the row cannot be opened here, before anything is fetched for it.
  std::optional<Diagnosis> without_own_components(const Row& row) const;
  bool is_here(const std::string& component) const {
    return !own_["components"][component]["artifacts"].as_array().empty();
  }

  const FromIndexRequest& request_;
  Plan& plan_;
  const Json own_;  // the manifest of the engine in EngineHost's own repository, or an empty object
  std::vector<DerivedRow> rows_;
};

Result<void> FromIndexRun::choose_rows() {
  std::vector<std::string> served;
  for (const Track& track : plan_.tracks)
    served.push_back(track.versions.empty() ? "any version" : track.versions);
  std::erase_if(plan_.tracks,
                [&](const Track& track) { return !in_range(request_.version, track.versions); });
  if (plan_.tracks.empty())
    return fail(refusal("the plan of " + plan_.engine + " serves " + join(served, " and "),
                        "name a version in that range"));
  for (Track& track : plan_.tracks)
    std::erase_if(track.rows, [&](const Row& row) {
      return row.os != request_.os || row.arch != request_.arch || (request_.wanted && !request_.wanted(row));
    });
  std::erase_if(plan_.tracks, [](const Track& track) { return track.rows.empty(); });
  if (plan_.tracks.empty())
    return fail(
        refusal("the plan of " + plan_.engine + " has no row for " + request_.os + " " + request_.arch,
                "use a build of another version: engine-info " + plan_.engine));
  std::set<std::string> used;
  for (const Track& track : plan_.tracks)
    for (const Row& row : track.rows) {
      used.insert(row.layout);
      for (const Part& part : row.parts) used.insert(part.layout);
    }
  std::erase_if(plan_.layouts, [&](const auto& one) { return !used.contains(one.first); });
  return {};
}

std::optional<Diagnosis> FromIndexRun::without_own_components(const Row& row) const {
  const Variables variables{request_.version, row.cuda == "metadata" ? "" : row.cuda};
  std::vector<std::string> own = {row.build["plugin"]["component"].as_string()};
  for (const Part& part : row.parts)
    if (part.version == "none") own.push_back(part.layout);
  for (const std::string& text : own) {
    if (text.find("{cuda") != std::string::npos && variables.cuda.empty()) continue;
    const std::string component = filled(text, variables);
    if (is_here(component)) continue;
    return std::move(refusal("its component " + component + " was not compiled here",
                             "compile it with EngineHost: see engines/" + plan_.engine + "/README.md")
                         .with("component", component));
  }
  return std::nullopt;
}

Result<FromIndex> FromIndexRun::derive(const Derivation& derivation) {
  FromIndex result;
  for (const Track& track : plan_.tracks)
    for (const Row& row : track.rows) {
      if (auto missing = without_own_components(row)) {
        result.left_out.push_back(std::move(*missing));
        continue;
      }
      auto derived = derive_row(derivation, track, row, request_.version);
      if (!derived && derived.error().code != "EH-M19") return fail(std::move(derived).error());
      if (!derived) {
        result.left_out.push_back(std::move(derived).error());
        continue;
      }
      result.builds.push_back(derived->build["id"].as_string());
      result.facts.insert(result.facts.end(), derived->facts.begin(), derived->facts.end());
      result.fetched += derived->fetched;
      rows_.push_back(std::move(*derived));
    }
  if (result.builds.empty()) return fail(result.left_out.front());
  return result;
}

Result<void> FromIndexRun::write(std::int64_t now) const {
  auto workspace = publish::Workspace::open(request_.folder);
  if (!workspace) workspace = publish::Workspace::create(request_.folder, derived_here);
  if (!workspace) workspace = publish::Workspace::open(request_.folder);  // another process made it
  if (!workspace) return fail(std::move(workspace).error());
  TRY_ASSIGN(const cache::FileLock lock, workspace->lock("engine-info --from-index"));
  TRY_ASSIGN(const std::optional<Json> before, manifest_in(*workspace, plan_.engine));
  Json document = before ? *before
                         : Json::object()
                               .set("format", 1)
                               .set("engine", plan_.engine)
                               .set("serial", 0)
                               .set("licenses", Json::object())
                               .set("components", Json::object())
                               .set("builds", Json::array());
  Json licenses = document["licenses"], components = document["components"], builds = Json::array();
  for (const auto& [name, license] : plan_.licenses.as_object()) licenses.set(name, license);
  for (const Json& build : document["builds"].as_array()) {
    const auto same = [&](const DerivedRow& row) { return row.build["id"] == build["id"]; };
    if (std::ranges::none_of(rows_, same)) builds.push(build);
  }
  for (const DerivedRow& row : rows_) {
    for (const auto& [id, component] : row.components.as_object()) components.set(id, component);
    std::vector<std::string> own = {row.build["plugin"]["component"].as_string()};
    for (const Json& id : row.build["components"].as_array()) own.push_back(id.as_string());
    for (const std::string& id : own)
      if (row.components.find(id) == nullptr && is_here(id)) {
        components.set(id, moved(own_["components"][id], request_.own));
        const std::string& license = own_["components"][id]["license"].as_string();
        if (const Json* text = own_["licenses"].find(license)) licenses.set(license, *text);
      }
    Json build = row.build;
    builds.push(std::move(build.set("priority", priority_of_derived)));
  }
  // A license's text may lie in a component that no derived build has.
  for (const auto& [name, license] : Json(licenses).as_object()) {
    const std::string& component = license["text"]["component"].as_string();
    if (component.empty() || components.find(component) != nullptr) continue;
    Json plain = Json::object();
    for (const auto& [member, value] : license.as_object())
      if (member != "text") plain.set(member, value);
    licenses.set(name, std::move(plain));
  }
  document.set("serial", document["serial"].as_integer() + 1)
      .set("licenses", std::move(licenses))
      .set("components", std::move(components))
      .set("builds", std::move(builds));
  const fs::path file = workspace->engine_file(plan_.engine);
  TRY(manifest::read_manifest(document, path_text(request_.folder), path_text(file)).map([](const auto&) {}));
  TRY(workspace->write_json(file, document));
  return workspace->prepare(now).map([](bool) {});
}

}  // namespace

Result<FromIndex> derive_from_index(const FromIndexRequest& request, Index& index,
                                    const transfer::TransferOptions& options,
                                    const transfer::ProgressCallback& progress,
                                    const std::optional<CancelToken>& cancel) {
  TRY_ASSIGN(Plan plan, read_plan(request.plan));
  plan.facts = request.folder / "facts";
  plan.manifest = request.folder / "engines" / path_of(plan.engine + ".json");
  TRY_ASSIGN(const publish::Workspace own, publish::Workspace::open_to_look(request.own));
  TRY_ASSIGN(const std::optional<Json> known, manifest_in(own, plan.engine));
  FromIndexRun run(request, plan, known.value_or(Json::object()));
  TRY(run.choose_rows());
  TRY_ASSIGN(FromIndex result, run.derive({plan, index, options, request.folder / "scratch", progress, cancel,
                                           wheel_reader(request.folder / "scratch", options, cancel)}));
  TRY(run.write(request.now));
  return result;
}

}  // namespace enginehost::follow
