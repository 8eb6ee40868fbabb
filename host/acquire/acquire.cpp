#include "host/acquire/acquire.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/acquire/component.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/installed_parts.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

using Clock = std::chrono::steady_clock;

// Returns a size that the manifest does not give, from the source. An unknown size is no failure here.
std::optional<std::uint64_t> asked_size(const manifest::Artifact& artifact, const manifest::Build& build,
                                        const AcquireOptions& options,
                                        const std::optional<CancelToken>& cancel) {
  const transfer::TransferOptions& usual = options.transfer;
  for (const manifest::Source& source : with_registry_mirrors(artifact.sources, usual)) {
    if (cancel && cancel->canceled()) return {};
    const auto place = locate(source, artifact, build, usual, cancel);
    if (!place) continue;
    if (place->size) return place->size;
    std::error_code error;
    if (place->url.empty() && std::filesystem::is_regular_file(place->path, error))
      return std::filesystem::file_size(place->path, error);
    if (place->url.empty() || source.kind == manifest::Source::Kind::oci) continue;
    if (const auto size = transfer::ask_size(place->url, place->options ? *place->options : usual, cancel);
        size && *size)
      return *size;
  }
  return {};
}

// Returns the size of all missing parts; nothing if one size is unknown.
std::optional<std::uint64_t> size_in_manifest(const manifest::Build& build, const cache::Store& store) {
  std::uint64_t sum = 0;
  for (const manifest::Component* component : build.all_components()) {
    if (installed_tree(*component, build, store)) continue;
    const manifest::Artifact* artifact = first_usable(*component);
    const auto size = artifact != nullptr ? download_size(*artifact, build) : std::nullopt;
    if (!size) return {};
    sum += *size;
  }
  return sum;
}

// Copies the loading settings of the manifest (manifest::Build::loading_digest(), except the time).
void set_loading(cache::Installed& installed, const manifest::Build& build) {
  installed.plugin = build.plugin_path;
  installed.search = build.search;
  installed.lazy = build.lazy;
  installed.options = build.options;
  installed.stand_ins = build.stand_ins();
  installed.optional.clear();
  for (const manifest::Component* component : build.all_components())
    installed.optional.insert(installed.optional.end(), component->optional.begin(),
                              component->optional.end());
}

std::vector<std::string> sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

// Returns false if the publisher changed how the same files are loaded, or an older EngineHost wrote the
// record.
bool is_recorded_so(const cache::Installed& installed, const manifest::Build& build) {
  cache::Installed now;
  set_loading(now, build);
  auto was_set = installed.options, is_set = now.options;
  std::sort(was_set.begin(), was_set.end());
  std::sort(is_set.begin(), is_set.end());
  return installed.plugin == now.plugin && installed.search == now.search && was_set == is_set &&
         installed.stand_ins == now.stand_ins && sorted(installed.lazy) == sorted(now.lazy) &&
         sorted(installed.optional) == sorted(now.optional);
}

Result<void> check_plugin(const manifest::Build& build, const std::filesystem::path& view) {
  std::error_code error;
  if (std::filesystem::is_regular_file(view / path_of(build.plugin_path), error)) return {};
  Diagnosis missing = diagnose(Code::file_not_readable);
  missing.with(Key::build, build.id)
      .with(Key::file, path_text(view / path_of(build.plugin_path)))
      .with(Key::component, build.plugin_component)
      .with(Key::plugin, build.plugin_path, "manifest")
      .with(Key::as_published, "yes");
  // The archive may have one folder around all files.
  for (const std::filesystem::path& path : entries_below(view, error))
    if (path.filename() == path_of(build.plugin_path).filename())
      missing.with(Key::found_at, generic_text(path.lexically_relative(view)), "the build's files");
  return fail(std::move(missing));
}

// The record of installed files with the manifest as it is now. A manifest that was read from the record
// itself comes from no repository: what the record says of its origin stays.
cache::Installed record_again(const manifest::Build& build, const cache::Installed& installed) {
  cache::Installed record = record_for(build, installed.trees, installed.files_by);
  record.only_for = installed.only_for;
  const auto owner = build.manifest.lock();
  if (owner && owner->repository.empty()) {
    record.origin = installed.origin;
    record.signers = installed.signers;
  }
  return record;
}

// If the record cannot be written (usually in a layer), the manifest's settings apply to this open only.
Result<cache::Installed> as_it_says(const manifest::Build& build, cache::Installed installed,
                                    const cache::Store& store) {
  TRY(check_plugin(build, installed.folder));
  if (!installed.read_only)
    if (const auto alone = store.stage(cache::Store::key_of(build.id)))
      if (auto written = store.write_ref(record_again(build, installed))) return std::move(*written);
  set_loading(installed, build);
  installed.unlike_its_record = true;
  return installed;
}

// A layer may have an older build of the same id, and the user's cache the current one.
Result<std::optional<cache::Installed>> find_current(const manifest::Build& build,
                                                     const cache::Store& store) {
  return store.find(build.id, [&](const cache::Installed& one) { return is_current(one, build, store); });
}

// A tree that was moved aside as damaged leaves a build whose stamps may look right.
bool has_its_trees(const cache::Installed& installed, const cache::Store& store) {
  return installed.read_only || std::all_of(installed.trees.begin(), installed.trees.end(),
                                            [&](const std::string& tree) { return store.has_tree(tree); });
}

// Hashes installed parts before they are used again, because another build may have damaged them. Runs before
// the question is asked, so that the announced download is the real one. Returns the first damage.
Result<std::optional<Diagnosis>> reject_damaged_parts(const manifest::Build& build,
                                                      const cache::Store& store) {
  std::optional<Diagnosis> first;
  for (const manifest::Component* component : build.all_components()) {
    const auto tree = installed_tree(*component, build, store);
    if (!tree) continue;
    TRY_ASSIGN(auto damage, store.reject_if_damaged(*tree));
    if (damage && !first) first = std::move(damage->with(Key::component, component->id));
  }
  return first;
}

// Asks whether the missing parts may be fetched, and sets the size of all of them.
Result<void> ask(ComponentWork& work) {
  if (!work.options.consent) {
    work.total = size_in_manifest(work.build, work.store);
    return {};
  }
  TRY_ASSIGN(const Question question, question_for(work.build, work.store, work.options, work.cancel));
  if (question.download_known) work.total = question.download;
  return question.sources.empty() ? Result<void>() : work.options.consent(question);
}

// For a canceled download, which the next call continues.
void add_what_is_kept(Diagnosis& failure, const ComponentWork& work) {
  if (failure.code != Code::canceled || work.arrived == 0) return;
  failure.with(Key::kept, format_bytes(work.arrived));
  if (work.total) failure.with(Key::total, format_bytes(*work.total));
}

Result<std::vector<std::string>> acquire_components(ComponentWork& work) {
  std::vector<std::string> trees;
  for (const manifest::Component* component : work.build.all_components()) {
    TRY_ASSIGN(std::string tree, acquire_component(*component, work));
    trees.push_back(std::move(tree));
  }
  if (work.cancel && work.cancel->canceled())
    return fail(diagnose(Code::canceled).with(Key::build, work.build.id));
  return trees;
}

Result<cache::Installed> install(ComponentWork& work) {
  const manifest::Build& build = work.build;
  TRY_ASSIGN(cache::Stage stage, work.store.stage(cache::Store::key_of(build.id), waiting(work)));
  const auto found = find_current(build, work.store);
  // A damaged file may look right to find().
  if (found && *found && has_its_trees(**found, work.store) && !work.options.refetch &&
      !work.acquired.repaired)
    return **found;
  work.stage = &stage;
  TRY_ASSIGN(std::vector<std::string> trees, acquire_components(work));
  TRY_ASSIGN(const std::filesystem::path view, work.store.make_view(trees, stage));
  TRY(check_plugin(build, view));
  std::string proof = proof_of_files(build, trees, work.store);
  cache::Installed record = record_for(build, std::move(trees), std::move(proof));
  record.only_for = work.options.only_for.value_or("");
  auto installed = work.store.write_ref(std::move(record));
  work.acquired.published = installed.has_value();
  return installed;
}

// Keeps the damage as the cause if no source could repair it, and adds why none could.
Diagnosis not_repaired(Diagnosis damage, Diagnosis failure) {
  if (area_of(failure.code) != Area::network) return failure;
  damage.with(Key::repair_failed, failure.code);
  constexpr std::pair<Key, Key> carried[] = {{Key::url, Key::repair_url},
                                             {Key::file, Key::repair_file},
                                             {Key::status, Key::repair_status},
                                             {Key::os_said, Key::repair_os_said},
                                             {Key::source_tried, Key::repair_source_tried}};
  for (const auto& [of_failure, of_repair] : carried)
    for (const std::string& value : failure.values(of_failure)) damage.with(of_repair, value);
  return damage;
}

// "the package index", "files.example", "the repository".
std::string origin_of(const manifest::Source& source) {
  switch (source.kind) {
    case manifest::Source::Kind::package_index:
      return "the package index";
    case manifest::Source::Kind::url:
      return transfer::host_of(source.location);
    case manifest::Source::Kind::oci:
      return source.location.substr(0, source.location.find('/'));
    case manifest::Source::Kind::file:
      break;
  }
  return "the repository";
}

}  // namespace

cache::Installed record_for(const manifest::Build& build, std::vector<std::string> trees,
                            std::string files_by) {
  cache::Installed record;
  record.build = build.id;
  record.id = build.published_id;
  record.engine = build.engine;
  record.version = build.version;
  record.flavor = build.flavor;
  record.artifacts_digest = build.artifacts_digest();
  record.trees = std::move(trees);
  set_loading(record, build);
  if (build.in_place) {
    record.in_place = build.in_place->path;
    record.root = build.in_place->root;
  }
  record.files_by = std::move(files_by);
  if (const auto owner = build.manifest.lock()) {
    record.origin = without_passwords(owner->repository);
    record.signers = owner->signed_by;
  }
  record.manifest = manifest_of(build);
  return record;
}

Result<Question> question_for(const manifest::Build& build, const cache::Store& store,
                              const AcquireOptions& options, const std::optional<CancelToken>& cancel) {
  Question question;
  question.build = build.id;
  const auto owner = build.manifest.lock();
  if (owner) {
    question.repository = owner->repository;
    question.signed_by = owner->signed_by;
  }
  std::map<std::string, std::size_t> asked;
  for (const manifest::Component* component : build.all_components()) {
    if (installed_tree(*component, build, store)) continue;
    if (cancel && cancel->canceled()) return fail(diagnose(Code::canceled).with(Key::build, build.id));
    const manifest::Artifact* artifact = first_usable(*component);
    if (artifact == nullptr)
      return fail(diagnose(Code::component_without_source)
                      .with(Key::component, component->id)
                      .with(Key::build, build.id));
    auto size = download_size(*artifact, build);
    if (!size) size = asked_size(*artifact, build, options, cancel);
    question.download += size.value_or(0);
    question.download_known = question.download_known && size.has_value();
    question.components.push_back(component->id);
    question.sources.push_back(artifact->sources.front().text());
    question.origins.push_back(origin_of(artifact->sources.front()));
    if (component->license.empty()) continue;
    const auto [position, fresh] = asked.emplace(component->license, question.licenses.size());
    if (fresh) {
      LicenseQuestion license;
      license.name = component->license;
      if (owner)
        if (const auto known = owner->licenses.find(component->license); known != owner->licenses.end())
          license.license = known->second;
      question.licenses.push_back(std::move(license));
    }
    LicenseQuestion& license = question.licenses[position->second];
    license.components.push_back(component->id);
    license.download += size.value_or(0);
  }
  return question;
}

Result<Acquired> acquire(const manifest::Build& build, const cache::Store& store,
                         const AcquireOptions& options, const transfer::ProgressCallback& progress,
                         const std::optional<CancelToken>& cancel) {
  Clock::time_point began = Clock::now();
  Acquired acquired;
  for (int attempt = 0;; ++attempt) {
    auto found = find_current(build, store);
    if (found && *found && options.hash_bytes > 0 && (*found)->in_place.empty()) {
      TRY_ASSIGN(auto damage, store.check_bytes(**found, options.hash_bytes, cancel));
      if (damage) found = fail(std::move(*damage));
    }
    const bool look_no_further = attempt > 0 || !options.refetch;
    if (found && *found && has_its_trees(**found, store) && look_no_further) {
      acquired.installed = std::move(**found);
      const bool serves_more =
          !acquired.installed.only_for.empty() && options.only_for && options.only_for->empty();
      if (serves_more) acquired.installed.only_for.clear();
      if (serves_more || !is_recorded_so(acquired.installed, build)) {
        TRY_ASSIGN(acquired.installed, as_it_says(build, std::move(acquired.installed), store));
      }
      if (acquired.downloaded > 0 || acquired.repaired)
        acquired.seconds = std::chrono::duration<double>(Clock::now() - began).count();
      return acquired;
    }
    std::optional<Diagnosis> damage;
    if (!found) {
      if (attempt > options.repairs) return fail(std::move(found.error()));
      damage = std::move(found.error());
    } else if (attempt > options.repairs) {
      // It was installed and is gone again: another process removes it each time.
      return fail(diagnose(Code::file_not_readable)
                      .with(Key::build, build.id)
                      .with(Key::problem, "removed by another process"));
    }
    TRY_ASSIGN(auto rejected, reject_damaged_parts(build, store));
    if (!damage) damage = std::move(rejected);
    if (damage) {
      acquired.repaired = true;
      acquired.warnings.push_back(*damage);
    }
    ComponentWork work{build, store, options, progress, cancel, acquired, {}, 0, 0, nullptr};
    const Clock::time_point asked = Clock::now();
    TRY(ask(work));
    began += Clock::now() - asked;  // a person reads
    if (auto installed = install(work); !installed) {
      Diagnosis& failure = installed.error();
      add_what_is_kept(failure, work);
      // Only a tree is missing; the build's libraries are as they were installed.
      if (found && *found && !options.refetch && area_of(failure.code) == Area::network) {
        acquired.warnings.push_back(std::move(failure));
        acquired.installed = std::move(**found);
        return acquired;
      }
      const bool of_it = damage && (!found || damage->value(Key::component) == failure.value(Key::component));
      return fail(of_it ? not_repaired(std::move(*damage), std::move(failure)) : std::move(failure));
    }
    // A build that was removed meanwhile is gone, but its bytes were left for this process to sweep.
    if (auto swept = store.sweep_if_wanted(); !swept) acquired.warnings.push_back(std::move(swept).error());
    if (progress)
      progress({transfer::Progress::Phase::done, work.total.value_or(work.before), work.total, 0, build.id});
  }
}

Result<FetchedTrees> fetch_trees(const manifest::Build& build, cache::Stage& stage, const cache::Store& store,
                                 const AcquireOptions& options, const transfer::ProgressCallback& progress,
                                 const std::optional<CancelToken>& cancel) {
  Acquired acquired;
  TRY_ASSIGN(auto damage, reject_damaged_parts(build, store));
  if (damage) acquired.warnings.push_back(std::move(*damage));
  ComponentWork work{build, store, options, progress, cancel, acquired, {}, 0, 0, &stage};
  TRY(ask(work));
  auto trees = acquire_components(work);
  if (!trees) {
    add_what_is_kept(trees.error(), work);
    return fail(std::move(trees).error());
  }
  if (progress)
    progress({transfer::Progress::Phase::done, work.total.value_or(work.before), work.total, 0, build.id});
  return FetchedTrees{std::move(*trees), acquired.downloaded, std::move(acquired.sources),
                      std::move(acquired.warnings)};
}

}  // namespace enginehost::acquire
