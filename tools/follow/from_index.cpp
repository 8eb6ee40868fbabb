#include "tools/follow/from_index.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/version_specifier.hpp"
#include "cache/lock.hpp"
#include "host/acquire/description.hpp"
#include "host/manifest/catalog.hpp"
#include "tools/follow/layout.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr const char* request_lock = "engine-info --from-index";
constexpr int priority_of_derived = -1000;
constexpr std::uint64_t largest_manifest = 8u << 20;

Result<Json> document_in(const fs::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file, largest_manifest));
  return parse_json(text, path_text(file));
}

Result<std::optional<Json>> manifest_in(const publish::Workspace& workspace, const std::string& engine) {
  TRY_ASSIGN(const std::vector<fs::path> files, workspace.engine_files());
  for (const fs::path& file : files) {
    TRY_ASSIGN(Json document, document_in(file));
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

// Returns up to two versions beside the one that the specifier begins with; without such a one the newest.
std::vector<std::string> nearest_to(const std::string& specifier, std::vector<std::string> known) {
  const auto is_older = [](const std::string& one, const std::string& two) {
    return compare_versions(one, two) < 0;
  };
  std::ranges::sort(known, is_older);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::size_t begin = specifier.find_first_not_of("<>=!~ ");
  const std::string wanted =
      begin == std::string::npos ? "" : specifier.substr(begin, specifier.find_first_of(", ", begin) - begin);
  auto above = wanted.empty() ? known.end() : std::ranges::lower_bound(known, wanted, is_older);
  std::vector<std::string> nearest;
  if (above != known.begin()) nearest.push_back(*(above - 1));
  if (above != known.end()) nearest.push_back(*above);
  return nearest;
}

std::vector<std::string> versions_served(const Plan& plan) {
  std::vector<std::string> served;
  for (const Track& track : plan.tracks) {
    const std::string range = track.versions.empty() ? "any version" : track.versions;
    if (std::ranges::find(served, range) == served.end()) served.push_back(range);
  }
  return served;
}

void keep_used_layouts(Plan& plan) {
  std::set<std::string> used;
  for (const Track& track : plan.tracks)
    for (const Row& row : track.rows) {
      used.insert(row.layout);
      for (const Part& part : row.parts) used.insert(part.layout);
    }
  std::erase_if(plan.layouts, [&](const auto& one) { return !used.contains(one.first); });
}

// Returns the licenses of the components. Their texts may lie in components that no derived build has.
Json used_licenses(const Json& licenses, const Json& components) {
  std::set<std::string> used;
  for (const auto& [id, component] : components.as_object()) used.insert(component["license"].as_string());
  Json result = Json::object();
  for (const auto& [name, license] : licenses.as_object()) {
    if (!used.contains(name)) continue;
    const std::string& with_text = license["text"]["component"].as_string();
    const bool has_text = with_text.empty() || components.find(with_text) != nullptr;
    Json plain = Json::object();
    for (const auto& [member, value] : license.as_object())
      if (has_text || member != "text") plain.set(member, value);
    result.set(name, std::move(plain));
  }
  return result;
}

bool has_accelerator_row(const Track& track) {
  return std::ranges::any_of(track.rows, [](const Row& row) {
    const Json& capabilities = row.build["capabilities"];
    return std::ranges::any_of(capabilities.as_array(), [](const Json& one) {
      return one.as_string().starts_with("device.") && one.as_string() != "device.cpu";
    });
  });
}

// Everything but the serial, which counts the changes.
bool is_same(const Json& one, const Json& two) {
  return Json(one).set("serial", 0) == Json(two).set("serial", 0);
}

}  // namespace

DerivedRepository::DerivedRepository(FromIndexRequest request, Plan plan, Json own,
                                     std::optional<Json> before, Memory memory, Index& all,
                                     const transfer::TransferOptions& options,
                                     const std::optional<CancelToken>& cancel)
    : request_(std::move(request)),
      plan_(std::move(plan)),
      own_(std::move(own)),
      before_(std::move(before)),
      memory_(std::move(memory)),
      index_(all, memory_, named_, plan_.hold_back_days, request_.now),
      options_(options),
      cancel_(cancel) {
  named_.add(own_["components"]);
  if (before_) named_.add((*before_)["components"]);
}

Result<std::unique_ptr<DerivedRepository>> DerivedRepository::open(FromIndexRequest request, Index& all,
                                                                   const transfer::TransferOptions& options,
                                                                   const std::optional<CancelToken>& cancel) {
  TRY_ASSIGN(Plan plan, read_plan(request.plan));
  plan.facts = request.folder / "facts";
  plan.manifest = request.folder / "engines" / path_of(plan.engine + ".json");
  TRY_ASSIGN(const publish::Workspace own, publish::Workspace::open_to_look(request.own));
  TRY_ASSIGN(const std::optional<Json> known, manifest_in(own, plan.engine));
  std::optional<Json> before;
  std::error_code error;
  if (fs::exists(plan.manifest, error)) {
    TRY_ASSIGN(before, document_in(plan.manifest));
  }
  TRY_ASSIGN(Memory memory, read_memory(plan.facts, plan.engine));
  std::unique_ptr<DerivedRepository> opened(
      new DerivedRepository(std::move(request), std::move(plan), known.value_or(Json::object()),
                            std::move(before), std::move(memory), all, options, cancel));
  TRY(opened->keep_wanted_rows());
  return opened;
}

Result<void> DerivedRepository::keep_wanted_rows() {
  const std::string system = request_.os + " " + request_.arch;
  std::set<std::string> flavors;
  for (Track& track : plan_.tracks)
    std::erase_if(track.rows, [&](const Row& row) {
      if (row.os != request_.os || row.arch != request_.arch) return true;
      flavors.insert(row.build["flavor"].as_string());
      return request_.wanted && !request_.wanted(row);
    });
  std::erase_if(plan_.tracks, [](const Track& track) { return track.rows.empty(); });
  keep_used_layouts(plan_);
  if (!plan_.tracks.empty()) return {};
  Diagnosis none =
      diagnose(Code::build_not_derived).with(Key::engine, plan_.engine).with(Key::no_row_for, system);
  for (const std::string& flavor : flavors) none.with(Key::flavor_here, flavor, "the plan");
  return fail(std::move(none));
}

std::vector<std::string> DerivedRepository::licenses() const {
  std::set<std::string> ids;
  for (const auto& [name, layout] : plan_.layouts)
    ids.insert(plan_.licenses[layout.license]["id"].as_string());
  return {ids.begin(), ids.end()};
}

std::vector<std::string> DerivedRepository::derived_before(const std::string& specifier) const {
  std::vector<std::string> versions;
  if (!before_) return versions;
  const VersionSpecifier asked(specifier);
  for (const Json& build : (*before_)["builds"].as_array()) {
    const std::string& version = build["version"].as_string();
    const bool fits = build["os"].as_string() == request_.os && build["arch"].as_string() == request_.arch &&
                      asked.accepts(version);
    if (fits && std::ranges::find(versions, version) == versions.end()) versions.push_back(version);
  }
  std::ranges::sort(versions,
                    [](const auto& one, const auto& two) { return compare_versions(one, two) > 0; });
  return versions;
}

Diagnosis DerivedRepository::unserved(const std::string& version) const {
  Diagnosis refused =
      diagnose(Code::build_not_derived).with(Key::engine, plan_.engine).with(Key::unserved, version);
  refused.with(Key::served, join(versions_served(plan_), " and "), path_text(plan_.file));
  if (plan_.engine == "pytorch") refused.with(Key::adapter, minor_release_of(version));
  return refused;
}

Diagnosis DerivedRepository::unknown(const std::string& specifier,
                                     const std::vector<std::string>& known) const {
  Diagnosis refused = diagnose(Code::build_not_derived).with(Key::engine, plan_.engine);
  refused.with(Key::unknown, specifier.empty() ? "in " + join(versions_served(plan_), " and ") : specifier);
  refused.with(Key::project, plan_.tracks.front().project, "the plan");
  for (const std::string& version : nearest_to(specifier, known))
    refused.with(Key::nearest, version, "the package index");
  return refused;
}

Diagnosis DerivedRepository::unusable(const SkippedRelease& skipped,
                                      const std::vector<std::string>& known) const {
  for (const Diagnosis& changed : index_.changed())
    if (changed.value(Key::version) == skipped.version) return changed;
  Diagnosis refused = diagnose(Code::build_not_derived).with(Key::engine, plan_.engine);
  refused.with(Key::unusable, skipped.version).with(Key::project, skipped.project, "the package index");
  refused.with(Key::reason, skipped.reason, "the package index");
  if (skipped.until != 0)
    refused.with(Key::until, text_of_time(skipped.until))
        .with(Key::days, std::to_string(plan_.hold_back_days), path_text(plan_.file));
  for (const std::string& version : nearest_to(skipped.version, known))
    refused.with(Key::nearest, version, "the package index");
  return refused;
}

Result<ReleaseOfIndex> DerivedRepository::release(const std::string& specifier) {
  const VersionSpecifier asked(specifier);
  ReleaseOfIndex newest;
  std::string for_accelerators, unserved_version;
  std::vector<std::string> usable, known;
  const auto take_newer = [](const std::string& one, std::string& best) {
    if (best.empty() || compare_versions(one, best) > 0) best = one;
  };
  for (const Track& track : plan_.tracks) {
    TRY_ASSIGN(const std::vector<Release> releases, index_.releases(track.project));
    for (const Release& release : releases) {
      const std::string& version = release.version;
      known.push_back(version);
      const bool is_served = in_range(version, track.versions);
      if (is_served) usable.push_back(version);
      if (!asked.accepts(version)) continue;
      take_newer(version, is_served ? newest.version : unserved_version);
      if (is_served && has_accelerator_row(track)) take_newer(version, for_accelerators);
    }
    for (const SkippedRelease& one : index_.skipped(track.project))
      if (asked.accepts(one.version) && in_range(one.version, track.versions) &&
          (!newest.skipped || compare_versions(one.version, newest.skipped->version) > 0))
        newest.skipped = one;
  }
  if (!for_accelerators.empty()) newest.version = for_accelerators;
  if (!newest.version.empty()) {
    if (newest.skipped && compare_versions(newest.skipped->version, newest.version) <= 0)
      newest.skipped.reset();
    return newest;
  }
  if (newest.skipped) return fail(unusable(*newest.skipped, usable));
  if (!unserved_version.empty()) return fail(unserved(unserved_version));
  return fail(unknown(specifier, usable.empty() ? known : usable));
}

std::string DerivedRepository::how_to_compile(const std::string& version) const {
  const std::string page = "engines/" + plan_.engine + "/README.md";
  if (plan_.engine != "pytorch") return "compile it with EngineHost: see " + page;
  // An adapter serves all releases of a minor one, and its headers are those of the release that is listed.
  for (const Json& build : own_["builds"].as_array())
    if (const std::string& listed = build["version"].as_string();
        minor_release_of(listed) == minor_release_of(version))
      return "compile the adapter for PyTorch " + minor_release_of(version) +
             " in EngineHost's source tree: python3 engines/pytorch/fetch_headers.py --release " + listed +
             " build/torch; cmake build -DENGINEHOST_TORCH_ROOT=\"$PWD/build/torch/" + listed +
             "\"; cmake --build build (" + page + ")";
  return "compile the adapter for PyTorch " + minor_release_of(version) +
         ": -DENGINEHOST_TORCH_ROOT= the folder torch of its wheel (" + page + ")";
}

// Returns why the row cannot be opened here, before anything is fetched for it.
std::optional<Diagnosis> DerivedRepository::without_own_components(const Row& row,
                                                                   const std::string& version) const {
  const Variables variables{version, row.cuda == "metadata" ? "" : row.cuda};
  std::vector<std::string> own = {row.build["plugin"]["component"].as_string()};
  for (const Part& part : row.parts)
    if (part.version == "none") own.push_back(part.layout);
  for (const std::string& text : own) {
    if (text.find("{cuda") != std::string::npos && variables.cuda.empty()) continue;
    const std::string component = filled(text, variables);
    if (is_here(component)) continue;
    return std::move(not_as_planned(plan_.engine, version, "",
                                    "its component " + component + " was not compiled here",
                                    how_to_compile(version))
                         .with(Key::component, component));
  }
  return std::nullopt;
}

Result<FromIndex> DerivedRepository::derive_rows(const Derivation& derivation, const std::string& version,
                                                 std::vector<DerivedRow>& rows) const {
  FromIndex result;
  std::map<std::string, std::vector<Diagnosis>> refused;  // by flavor
  std::set<std::string> flavors;
  for (const Track& track : derivation.plan.tracks)
    for (const Row& row : track.rows) {
      const std::string& flavor = row.build["flavor"].as_string();
      if (flavors.contains(flavor)) continue;  // the rows of a flavor are alternatives
      auto missing = without_own_components(row, version);
      auto derived = missing ? Result<DerivedRow>(fail(std::move(*missing)))
                             : derive_row(derivation, track, row, version);
      if (!derived && derived.error().code != Code::release_not_as_planned)
        return fail(std::move(derived).error());
      if (!derived) {
        refused[flavor].push_back(std::move(derived).error());
        if (result.left_out.empty()) result.left_out.push_back(refused[flavor].back());
        continue;
      }
      flavors.insert(flavor);
      result.builds.push_back(derived->build["id"].as_string());
      result.facts.insert(result.facts.end(), derived->facts.begin(), derived->facts.end());
      result.fetched += derived->fetched;
      rows.push_back(std::move(*derived));
    }
  if (result.builds.empty()) return fail(result.left_out.front());
  result.left_out.clear();
  for (auto& [flavor, why] : refused)
    if (!flavors.contains(flavor)) result.left_out.push_back(std::move(why.front()));
  return result;
}

Json DerivedRepository::joined(const Json& before, const std::vector<DerivedRow>& rows) const {
  Json licenses = before["licenses"], components = before["components"], builds = Json::array();
  for (const auto& [name, license] : plan_.licenses.as_object()) licenses.set(name, license);
  for (const Json& build : before["builds"].as_array())
    if (std::ranges::none_of(rows, [&](const DerivedRow& row) { return row.build["id"] == build["id"]; }))
      builds.push(build);
  const auto take_own = [&](const std::string& id) {
    components.set(id, moved(own_["components"][id], request_.own));
    const std::string& license = own_["components"][id]["license"].as_string();
    if (const Json* text = own_["licenses"].find(license)) licenses.set(license, *text);
  };
  // EngineHost may have been updated since.
  for (const auto& [id, component] : before["components"].as_object())
    if (is_here(id)) take_own(id);
  for (const DerivedRow& row : rows) {
    for (const auto& [id, component] : row.components.as_object()) components.set(id, component);
    std::vector<std::string> own = {row.build["plugin"]["component"].as_string()};
    for (const Json& id : row.build["components"].as_array()) own.push_back(id.as_string());
    for (const std::string& id : own)
      if (row.components.find(id) == nullptr && is_here(id)) take_own(id);
    // The plan says "not_built" of what a build of EngineHost compiles later; here its plugin is compiled.
    Json build = Json::object();
    for (const auto& [member, value] : row.build.as_object())
      if (member != "not_built") build.set(member, value);
    builds.push(std::move(build.set("priority", priority_of_derived)));
  }
  Json document = before;
  document.set("licenses", used_licenses(licenses, components))
      .set("components", std::move(components))
      .set("builds", std::move(builds));
  return document;
}

Result<bool> DerivedRepository::write(const std::vector<DerivedRow>& rows) const {
  auto workspace = publish::Workspace::open(request_.folder);
  if (!workspace) workspace = publish::Workspace::create(request_.folder, acquire::derived_here);
  if (!workspace) return fail(std::move(workspace).error());
  TRY_ASSIGN(const cache::FileLock lock, workspace->lock(request_lock));
  const Json empty = Json::object()
                         .set("format", 1)
                         .set("engine", plan_.engine)
                         .set("serial", 0)
                         .set("licenses", Json::object())
                         .set("components", Json::object())
                         .set("builds", Json::array());
  // Another request may have derived rows since this one read them.
  TRY_ASSIGN(const std::optional<Json> known, manifest_in(*workspace, plan_.engine));
  const Json before = known.value_or(empty);
  Json document = joined(before, rows);
  const fs::path file = workspace->engine_file(plan_.engine);
  if (!is_same(document, before)) {
    document.set("serial", before["serial"].as_integer() + 1);
    TRY(manifest::read_manifest(document, path_text(request_.folder), path_text(file)).map([](const auto&) {
    }));
    TRY(workspace->write_json(file, document));
  }
  return workspace->prepare(request_.now);
}

Result<FromIndex> DerivedRepository::derive(const std::string& version,
                                            const transfer::ProgressCallback& progress) {
  Plan plan = plan_;
  std::erase_if(plan.tracks, [&](const Track& track) { return !in_range(version, track.versions); });
  if (plan.tracks.empty()) return fail(unserved(version));
  keep_used_layouts(plan);
  TRY(make_folders(request_.folder));
  cache::WaitOptions wait;
  wait.cancel = cancel_;
  TRY_ASSIGN(cache::FileLock lock,
             cache::FileLock::exclusive(request_.folder / "from-index.lock", request_lock, wait));
  const auto reported = [&](const transfer::Progress& at) {
    lock.report_progress(at.done, at.total.value_or(0));
    if (progress) progress(at);
  };
  const fs::path scratch = request_.folder / "scratch";
  std::vector<DerivedRow> rows;
  auto result = derive_rows({.plan = plan,
                             .index = index_,
                             .options = options_,
                             .scratch = scratch,
                             .progress = reported,
                             .cancel = cancel_,
                             .wheels = wheel_reader(scratch, options_, cancel_),
                             .store = request_.store,
                             .consent = request_.consent},
                            version, rows);
  // The digests of files that are not used yet are remembered, too.
  TRY(write_memory(plan.facts, plan.engine, memory_, request_.now));
  TRY_ASSIGN(FromIndex derived, std::move(result));
  TRY_ASSIGN(derived.changed, write(rows));
  std::error_code error;
  remove_tree(scratch, error);
  return derived;
}

}  // namespace enginehost::follow
