#include "tools/follow/payload.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "cache/store.hpp"
#include "host/acquire/installed_parts.hpp"
#include "tools/publish/listing.hpp"
#include "tools/publish/partial_downloads.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

std::optional<Json> json_in(const fs::path& file) {
  const auto text = read_file(file, 64u << 20);
  auto document = text ? parse_json(*text, path_text(file)) : Result<Json>(fail(Diagnosis{}));
  return document ? std::optional(std::move(*document)) : std::nullopt;
}

// An artifact with the files of all of them, whose archive is the same.
manifest::Artifact joined_files(const Wheel& wheel, const manifest::Artifact& first,
                                const std::vector<const manifest::Artifact*>& others) {
  manifest::Artifact all = first;
  std::set<std::string> paths;
  for (const cache::TreeEntry& file : all.files) paths.insert(file.path);
  for (const manifest::Artifact* other : others) {
    all.select.insert(all.select.end(), other->select.begin(), other->select.end());
    for (const cache::TreeEntry& file : other->files)
      if (paths.insert(file.path).second) all.files.push_back(file);
    if (other->select.empty()) all.select.clear();
  }
  all.tree = cache::TreeList{all.files}.id();
  auto ranges = publish::ranges_to_fetch(wheel.directory(), all, all.files);
  all.ranges = ranges ? std::move(*ranges) : std::vector<transfer::Range>();
  return all;
}

// A build of these files alone; the store asks for a plugin, which any file is.
std::shared_ptr<const manifest::Manifest> manifest_of_files(const manifest::Artifact& artifact) {
  auto manifest = std::make_shared<manifest::Manifest>();
  manifest->engine = "files";
  manifest::Component component;
  component.id = "files-" + artifact.sha256;
  component.artifacts.push_back(artifact);
  auto build = std::make_shared<manifest::Build>();
  build->id = component.id;
  build->engine = manifest->engine;
  build->plugin_component = component.id;
  build->plugin_path = artifact.files.front().path;
  build->manifest = manifest;
  manifest->components.emplace(component.id, std::move(component));
  manifest->builds.push_back(std::move(build));
  return manifest;
}

Diagnosis of_payload(const Wheel& wheel, Diagnosis failure) {
  const PublishedFile& file = wheel.published;
  const auto other_bytes = [&](const std::string& problem) {
    return not_as_planned(file.project, file.version, file.file, problem,
                          "compare the file with other copies of it; until then the row is left out");
  };
  if (failure.code == Code::fetched_content_wrong)
    return std::move(other_bytes("it has other bytes than the package index states")
                         .with(Key::expected, file.sha256, "package index")
                         .with(Key::actual, failure.value(Key::actual_sha256)));
  if (failure.code == Code::archive_not_unpacked || failure.code == Code::archive_entry_refused)
    return std::move(other_bytes("its files are not as its RECORD and its directory say")
                         .with(Key::archive_failure, failure.code)
                         .with(Key::archive_problem, failure.value(Key::problem)));
  return std::move(failure.with(Key::wheel, file.file));
}

bool may_go_on(Code code) { return code == Code::canceled || area_of(code) == Area::network; }

// The facts of one artifact from a tree that has its files and perhaps more.
Result<void> keep_facts(const manifest::Artifact& artifact, const PublishedFile& file, const fs::path& tree,
                        bool whole, const PayloadPlace& place, std::optional<publish::ArtifactFacts>& kept) {
  TRY_ASSIGN(publish::ArtifactFacts facts,
             publish::facts_of_tree(cache::TreeList{artifact.files}, tree, acquire::archive_key(artifact)));
  facts.file = file.file;
  facts.sha256 = file.sha256;
  facts.by_ranges = !whole;
  TRY(publish::keep_facts_in(place.memory, artifact, facts));
  if (!kept) kept = std::move(facts);
  return {};
}

// The unpacked files of an archive.
struct Unpacked {
  fs::path tree;
  std::uint64_t fetched = 0;
  bool whole = false;                 // the archive was hashed as a whole
  std::optional<cache::Stage> stage;  // keeps a tree of the cache that no build names yet
};

Result<Unpacked> unpack_into_cache(const manifest::Build& build, const manifest::Artifact& artifact,
                                   const Wheel& wheel, const cache::Store& store,
                                   acquire::AcquireOptions options,
                                   const transfer::ProgressCallback& progress,
                                   const std::optional<CancelToken>& cancel) {
  options.consent = [&wheel, ask = options.consent](acquire::Question question) {
    question.build = wheel.published.file;
    return ask ? ask(question) : Result<void>();
  };
  TRY_ASSIGN(cache::Stage stage, store.stage(build.id, acquire::waiting(progress, cancel)));
  TRY_ASSIGN(const acquire::FetchedTrees fetched,
             acquire::fetch_trees(build, stage, store, options, progress, cancel));
  return Unpacked{cache::Store::tree_folder(store.root(), artifact.tree), fetched.downloaded,
                  store.tree_of(acquire::archive_key(artifact)).has_value(), std::move(stage)};
}

Result<Unpacked> unpack_into_scratch(const manifest::Build& build, const manifest::Artifact& artifact,
                                     const fs::path& folder, const acquire::AcquireOptions& options,
                                     const transfer::ProgressCallback& progress,
                                     const std::optional<CancelToken>& cancel) {
  const cache::Store store = cache::Store::open(folder, {}, "engine-manifest follow");
  TRY_ASSIGN(const acquire::Acquired acquired, acquire::acquire(build, store, options, progress, cancel));
  return Unpacked{cache::Store::tree_folder(folder, artifact.tree), acquired.downloaded,
                  store.tree_of(acquire::archive_key(artifact)).has_value(), std::nullopt};
}

}  // namespace

NameMemory::NameMemory(const Plan& plan) {
  if (const auto files = publish::children_of(plan.facts))
    for (const fs::path& file : *files)
      if (const auto facts = file.extension() == ".json" ? json_in(file) : std::nullopt)
        if (const std::string& name = (*facts)["file"].as_string(); !name.empty())
          known_[name].push_back((*facts)["sha256"].as_string());
  add(plan.components);
  if (const auto manifest = json_in(plan.manifest)) add((*manifest)["components"]);
}

void NameMemory::add(const Json& components) {
  for (const auto& [id, component] : components.as_object())
    for (const Json& artifact : component["artifacts"].as_array())
      for (const Json& source : artifact["sources"].as_array())
        if (const std::string& file = source["package_index"]["file"].as_string(); !file.empty())
          known_[file].push_back(artifact["sha256"].as_string());
}

Result<void> NameMemory::check(const PublishedFile& file) const {
  const auto known = known_.find(file.file);
  if (known == known_.end() || std::ranges::find(known->second, file.sha256) != known->second.end())
    return {};
  return fail(std::move(
      not_as_planned(file.project, file.version, file.file,
                     "the package index states another SHA-256 of it than before",
                     "do not use it before its makers explain the change: an index never replaces a file")
          .with(Key::expected, known->second.front(), "an earlier run")
          .with(Key::actual, file.sha256, "package index")));
}

Result<Payload> payload_of(const Wheel& wheel, const manifest::Artifact& artifact,
                           const std::vector<manifest::Artifact>& others, const PayloadPlace& place,
                           const acquire::AcquireOptions& options, const transfer::ProgressCallback& progress,
                           const std::optional<CancelToken>& cancel) {
  Payload payload;
  if (auto known = publish::facts_in(place.memory, artifact)) {
    payload.remembered = true;
    // The memory must speak of the same files.
    if (known->tree != artifact.tree)
      return fail(
          std::move(not_as_planned(wheel.published.project, wheel.published.version, wheel.published.file,
                                   "its RECORD now gives other files than an earlier run read",
                                   "remove the facts of this archive if they are wrong, else do not use it")
                        .with(Key::expected, known->tree, "an earlier run")
                        .with(Key::actual, artifact.tree, "RECORD")));
    payload.facts = std::move(*known);
    return payload;
  }
  std::vector<const manifest::Artifact*> missing;
  for (const manifest::Artifact& other : others)
    if (!publish::facts_in(place.memory, other)) missing.push_back(&other);
  const manifest::Artifact all = joined_files(wheel, artifact, missing);
  const auto files = manifest_of_files(all);
  const manifest::Build& build = *files->builds.front();
  const fs::path scratch = place.scratch / "files";
  const auto clear = [&] {
    std::error_code error;
    remove_tree(scratch, error);
  };
  auto unpacked = place.store != nullptr
                      ? unpack_into_cache(build, all, wheel, *place.store, options, progress, cancel)
                      : unpack_into_scratch(build, all, scratch, options, progress, cancel);
  if (!unpacked) {
    if (!may_go_on(unpacked.error().code) || unpacked.error().code == Code::fetched_content_wrong) clear();
    return fail(of_payload(wheel, std::move(unpacked).error()));
  }
  payload.fetched = unpacked->fetched;
  payload.whole = unpacked->whole;
  std::optional<publish::ArtifactFacts> kept;
  auto result = keep_facts(artifact, wheel.published, unpacked->tree, unpacked->whole, place, kept);
  for (const manifest::Artifact* other : missing)
    if (result) result = keep_facts(*other, wheel.published, unpacked->tree, unpacked->whole, place, kept);
  clear();
  if (!result) return fail(std::move(result).error());
  payload.facts = std::move(*kept);
  return payload;
}

}  // namespace enginehost::follow
