#include "tools/follow/follow.hpp"

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
#include "cache/lock.hpp"
#include "host/manifest/repository.hpp"
#include "tools/follow/choose.hpp"
#include "tools/follow/draft.hpp"
#include "tools/follow/inputs.hpp"
#include "tools/follow/proof.hpp"
#include "tools/follow/toolkit.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "engine-manifest follow";

// A failure of this machine, not of a release: going on would only repeat it.
bool ends_the_run(const Diagnosis& failure) {
  for (const Code code : {Code::canceled, Code::offline, Code::disk_full, Code::folder_not_writable,
                          Code::file_size_limit, Code::lock_held, Code::too_many_open_files})
    if (failure.code == code) return true;
  return false;
}

// The locks of a run: the plan's memory, and the repository that the manifest is edited in.
struct RunLocks {
  cache::FileLock memory, repository;

  void report_progress(const transfer::Progress& progress) {
    for (cache::FileLock* const lock : {&memory, &repository})
      if (lock->held()) lock->report_progress(progress.done, progress.total.value_or(0));
  }
};

Result<RunLocks> lock_plan(const Plan& plan, const std::optional<CancelToken>& cancel) {
  RunLocks locks;
  TRY(make_folders(memory_folder(plan.facts)));
  cache::WaitOptions wait;
  wait.cancel = cancel;
  TRY_ASSIGN(locks.memory, cache::FileLock::exclusive(
                               memory_folder(plan.facts) / path_of(plan.engine + ".lock"), lock_name, wait));
  const fs::path folder = plan.manifest.parent_path();
  std::error_code error;
  if (folder.filename() != "engines" || !fs::exists(folder.parent_path() / "repository.json", error))
    return locks;
  TRY_ASSIGN(const publish::Workspace workspace, publish::Workspace::open(folder.parent_path()));
  TRY_ASSIGN(locks.repository, workspace.lock(lock_name));
  return locks;
}

// With --check, nothing is written beside the plan.
fs::path scratch_of(const FollowRequest& request, const Plan& plan) {
  if (const fs::path folder = usable_temporary_folder(); request.check && !folder.empty())
    return folder / ("enginehost-follow-" + random_hex(8));
  return memory_folder(plan.facts) / path_of(plan.engine + ".scratch");
}

Result<std::optional<std::string>> text_of_manifest(const fs::path& file) {
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) return std::nullopt;
  TRY_ASSIGN(std::string text, read_file(file, manifest::largest_document));
  return std::optional(std::move(text));
}

class PlanRun {
 public:
  PlanRun(const FollowRequest& request, const Plan& plan, const OldManifest& old, Memory& memory,
          const NamedFiles& named, const fs::path& scratch, const transfer::ProgressCallback& progress)
      : request_(request),
        plan_(plan),
        old_(old),
        memory_(memory),
        all_(request.options, request.cancel),
        index_(all_, memory, named, plan.hold_back_days, request.now),
        derivation_{.plan = plan,
                    .index = index_,
                    .options = request_.options,
                    .scratch = scratch,
                    .progress = progress,
                    .cancel = request.cancel,
                    .wheels = wheel_reader(scratch, request_.options, request.cancel)},
        draft_(plan, old) {
    report_.engine = plan.engine;
    report_.manifest = plan.manifest;
    report_.facts = plan.facts;
    report_.check = request.check;
  }

  Result<void> run();
  Report take_report();
  const ManifestDraft& draft() const { return draft_; }

 private:
  Result<void> follow_track(const Track& track);
  Result<void> follow_row(const Track& track, const Row& row, const std::string& version);
  Result<void> derive(const Track& track, const Row& row, const std::string& version,
                      const std::optional<ManifestRow>& before, const std::string& inputs);
  // Lets rows of the release stay what they were.
  Result<void> keep_release(const Track& track, const std::string& version, RowState state,
                            const std::optional<Diagnosis>& why = {});
  Result<void> keep_row(const std::optional<ManifestRow>& before);
  ReportedRow& report_row(const Track& track, const Row& row, const std::string& version, RowState state);
  Result<std::vector<std::string>> versions_to_have(const Track& track);
  std::vector<std::string> withdrawn(const Track& track, const ChosenReleases& chosen);
  bool is_named(const std::string& version) const;
  bool is_held(const Diagnosis& failure) const;

  const FollowRequest& request_;
  const Plan& plan_;
  const OldManifest& old_;
  Memory& memory_;
  PackageIndex all_;
  VettedIndex index_;
  Derivation derivation_;
  ManifestDraft draft_;
  std::map<std::string, KnownRow> rows_;  // of the next memory
  std::set<std::string> kept_only_;       // versions that only the manifest has
  Report report_;
};

bool PlanRun::is_named(const std::string& version) const {
  return request_.only.empty() ||
         std::any_of(request_.only.begin(), request_.only.end(),
                     [&](const std::string& one) { return compare_versions(one, version) == 0; });
}

// A part that is too young is no failure of the release: it comes with the days.
bool PlanRun::is_held(const Diagnosis& failure) const {
  const std::string_view version = failure.value(Key::version);
  for (const SkippedRelease& skipped : index_.skipped(std::string(failure.value(Key::project))))
    if (skipped.until != 0 &&
        (skipped.version == version || (is_range(version) && in_range(skipped.version, version))))
      return true;
  return false;
}

ReportedRow& PlanRun::report_row(const Track& track, const Row& row, const std::string& version,
                                 RowState state) {
  ReportedRow reported;
  reported.track = track.name;
  reported.version = version;
  reported.os = row.os;
  reported.arch = row.arch;
  reported.flavor = row.build["flavor"].as_string();
  reported.name = id_pattern(row, version);
  reported.state = state;
  return report_.rows.emplace_back(std::move(reported));
}

Result<void> PlanRun::keep_row(const std::optional<ManifestRow>& before) {
  if (!before) return {};
  const std::string& id = before->build["id"].as_string();
  if (draft_.has_build(id)) return {};
  if (const auto known = memory_.rows.find(id); known != memory_.rows.end()) rows_.insert(*known);
  return draft_.add(*before);
}

Result<void> PlanRun::keep_release(const Track& track, const std::string& version, RowState state,
                                   const std::optional<Diagnosis>& why) {
  for (const Row& row : track.rows) {
    const auto before = old_.row_of(plan_, row, version);
    if (!before) continue;
    ReportedRow& reported = report_row(track, row, version, state);
    reported.build = before->build["id"].as_string();
    reported.why = why;
    TRY(keep_row(before));
  }
  return {};
}

// Returns versions of the manifest that the index does not offer any more, and reports them.
std::vector<std::string> PlanRun::withdrawn(const Track& track, const ChosenReleases& chosen) {
  std::vector<std::string> versions;
  const auto releases = index_.releases(track.project);
  for (const std::string& version : old_.versions_of(plan_, track)) {
    const bool is_offered =
        releases && std::any_of(releases->begin(), releases->end(),
                                [&](const Release& release) { return release.version == version; });
    const bool is_old = !chosen.versions.empty() && compare_versions(version, chosen.versions.front()) < 0;
    if (is_offered || is_old) continue;
    Diagnosis gone = diagnose(Code::release_gone_from_index);
    gone.with(Key::project, track.project).with(Key::version, version).with(Key::track, track.name);
    for (const SkippedRelease& skipped : index_.skipped(track.project))
      if (skipped.version == version) gone.with(Key::reason, skipped.reason, "the package index");
    report_.problems.push_back(std::move(gone));
    versions.push_back(version);
  }
  return versions;
}

// The versions whose rows the manifest has afterwards, the oldest first.
Result<std::vector<std::string>> PlanRun::versions_to_have(const Track& track) {
  const auto toolkit = [&](const Row& row, const std::string& version) {
    return toolkit_of_release(derivation_, memory_, row, version);
  };
  TRY_ASSIGN(ChosenReleases chosen, choose_releases(track, index_, toolkit));
  for (const std::string& kept : chosen.missing) {
    const auto& all = index_.skipped(track.project);
    const auto skipped = std::find_if(all.begin(), all.end(), [&](const SkippedRelease& one) {
      return compare_versions(one.version, kept) == 0;
    });
    if (skipped != all.end() && skipped->until != 0) continue;  // it comes with the days
    Diagnosis gone = diagnose(Code::release_gone_from_index);
    gone.with(Key::project, track.project).with(Key::version, kept).with(Key::track, track.name);
    gone.with(Key::kept, kept, "\"keep\" of the plan");
    gone.with(Key::reason, skipped == all.end() ? "the index lists no such release" : skipped->reason,
              "the package index");
    report_.problems.push_back(std::move(gone));
  }
  for (const std::string& version : withdrawn(track, chosen)) {
    kept_only_.insert(track.name + " " + version);
    if (std::find(chosen.versions.begin(), chosen.versions.end(), version) == chosen.versions.end())
      chosen.versions.push_back(version);
  }
  std::sort(
      chosen.versions.begin(), chosen.versions.end(),
      [](const std::string& left, const std::string& right) { return compare_versions(left, right) < 0; });
  for (SkippedRelease& skipped : chosen.skipped) report_.skipped.push_back(std::move(skipped));
  return std::move(chosen.versions);
}

Result<void> PlanRun::follow_track(const Track& track) {
  const auto versions = versions_to_have(track);
  if (!versions) {
    if (ends_the_run(versions.error())) return fail(versions.error());
    report_.problems.push_back(versions.error());
    for (const std::string& version : old_.versions_of(plan_, track))
      TRY(keep_release(track, version, RowState::failed, versions.error()));
    return {};
  }
  if (!request_.only.empty())
    for (const std::string& version : old_.versions_of(plan_, track))
      if (std::find(versions->begin(), versions->end(), version) == versions->end())
        TRY(keep_release(track, version, RowState::left));
  for (const std::string& version : *versions) {
    if (kept_only_.contains(track.name + " " + version)) {
      TRY(keep_release(track, version, RowState::same));
      continue;
    }
    for (const Row& row : track.rows) TRY(follow_row(track, row, version));
  }
  return {};
}

Result<void> PlanRun::follow_row(const Track& track, const Row& row, const std::string& version) {
  const std::optional<ManifestRow> before = old_.row_of(plan_, row, version);
  const std::string id = before ? before->build["id"].as_string() : "";
  if (!is_named(version)) {
    report_row(track, row, version, RowState::left).build = id;
    return keep_row(before);
  }
  const auto inputs = inputs_of(plan_, row, version, index_);
  if (!inputs) {
    if (ends_the_run(inputs.error())) return fail(inputs.error());
    ReportedRow& reported = report_row(track, row, version, RowState::failed);
    reported.build = id;
    reported.why = inputs.error();
    return keep_row(before);
  }
  const auto known = memory_.rows.find(id);
  // The digest of the row finds a manifest that was changed by hand, or not written after the memory was.
  const bool is_same = before && known != memory_.rows.end() && known->second.inputs == *inputs &&
                       known->second.row == digest_of(*before);
  if (is_same || request_.check) {
    report_row(track, row, version, is_same ? RowState::same : RowState::waiting).build = id;
    return keep_row(before);
  }
  return derive(track, row, version, before, *inputs);
}

Result<void> PlanRun::derive(const Track& track, const Row& row, const std::string& version,
                             const std::optional<ManifestRow>& before, const std::string& inputs) {
  if (request_.step) request_.step(id_pattern(row, version));
  auto derived = derive_row(derivation_, track, row, version);
  std::optional<Diagnosis> why;
  if (derived) {
    const ManifestRow made{std::move(derived->build), std::move(derived->components)};
    if (const auto added = draft_.add(made)) {
      // The manifest shows no longer whether a row named a component that the plan has by hand, too.
      const std::string digest = digest_of(without_components_of(plan_, made));
      const RowState state = !before                        ? RowState::added
                             : digest_of(*before) == digest ? RowState::same
                                                            : RowState::changed;
      ReportedRow& reported = report_row(track, row, version, state);
      reported.build = made.build["id"].as_string();
      reported.facts = std::move(derived->facts);
      rows_[reported.build] = {inputs, digest};
      return {};
    } else {
      why = added.error();
    }
  } else {
    why = derived.error();
  }
  if (ends_the_run(*why)) return fail(std::move(*why));
  ReportedRow& reported = report_row(track, row, version, is_held(*why) ? RowState::held : RowState::failed);
  if (before) reported.build = before->build["id"].as_string();
  reported.why = std::move(why);
  return keep_row(before);
}

Result<void> PlanRun::run() {
  if (request_.now < memory_.looked)
    report_.warnings.push_back(diagnose(Code::clock_behind)
                                   .with(Key::file, path_text(memory_folder(plan_.facts)))
                                   .with(Key::clock, text_of_time(request_.now))
                                   .with(Key::expected, text_of_time(memory_.looked)));
  for (const Track& track : plan_.tracks) TRY(follow_track(track));
  for (const Json& build : old_.document()["builds"].as_array())
    if (!draft_.has_build(build["id"].as_string())) report_.dropped.push_back(build["id"].as_string());
  for (const auto& [name, license] : plan_.licenses.as_object())
    if (const Json* const known = old_.document()["licenses"].find(name);
        known != nullptr && *known != license)
      report_.licenses.push_back(name);
  for (const Diagnosis& changed : index_.changed()) report_.problems.push_back(changed);
  report_.left_out = all_.left_out();
  report_.archives = derivation_.wheels->archives();
  memory_.rows = rows_;
  return {};
}

Report PlanRun::take_report() { return std::move(report_); }

// Returns the manifest with a file for each component that a build of EngineHost compiles and fills in later:
// plugins and stand-ins, which have "os" and "arch" in place of artifacts. Everything else is checked.
Json with_compiled(Json document) {
  Json components = Json::object();
  for (auto [id, component] : document["components"].as_object()) {
    if (component.find("os") != nullptr && component.find("artifacts") == nullptr)
      component.set("artifacts", Json::array().push(Json::object()
                                                        .set("sha256", std::string(64, '0'))
                                                        .set("size", 1)
                                                        .set("archive", "none")
                                                        .set("path", "plugin")
                                                        .set("sources", Json::array())));
    components.set(id, component);
  }
  return document.set("components", std::move(components));
}

// Refuses what no reader would accept.
Result<void> check_manifest(const Plan& plan, const ManifestDraft& draft, const std::string& text) {
  const std::string name = path_text(plan.manifest);
  if (text.size() > manifest::largest_document)
    return fail(diagnose(Code::manifest_fails_for_users)
                    .with(Key::document, name)
                    .with(Key::member, "components")
                    .with(Key::problem, "it has " + std::to_string(text.size()) +
                                            " bytes, and clients read at most " +
                                            std::to_string(manifest::largest_document))
                    .with(Key::remedy, "keep fewer releases: \"newest\" and \"keep\" of the tracks"));
  return manifest::read_manifest(with_compiled(draft.document()), path_text(plan.manifest.parent_path()),
                                 name)
      .map([](const auto&) {});
}

}  // namespace

Result<Report> follow(const FollowRequest& request) {
  TRY_ASSIGN(const Plan plan, read_plan(request.plan));
  RunLocks locks;
  if (!request.check) {
    TRY_ASSIGN(locks, lock_plan(plan, request.cancel));
  }
  TRY_ASSIGN(const std::optional<std::string> before, text_of_manifest(plan.manifest));
  Json document = Json::object();
  if (before) {
    TRY_ASSIGN(document, parse_json(*before, path_text(plan.manifest)));
  }
  const OldManifest old(std::move(document));
  TRY_ASSIGN(Memory memory, read_memory(plan.facts, plan.engine));
  NamedFiles named;
  named.add(old.document()["components"]);
  named.add(plan.components);
  const auto progress = [&](const transfer::Progress& now) {
    locks.report_progress(now);
    if (request.progress) request.progress(now);
  };
  const fs::path scratch = scratch_of(request, plan);
  PlanRun run(request, plan, old, memory, named, scratch, progress);
  const auto done = run.run();
  std::error_code error;
  // After a failure an interrupted download goes on from there.
  if (done || request.check) remove_tree(scratch, error);
  if (!done) return fail(done.error());
  const std::string text = run.draft().text();
  TRY(check_manifest(plan, run.draft(), text));
  Report report = run.take_report();
  const bool would_derive = std::any_of(report.rows.begin(), report.rows.end(), [](const ReportedRow& row) {
    return row.state == RowState::waiting;
  });
  report.changed = !before || *before != text || would_derive;
  if (!request.check) {
    TRY(write_memory(plan.facts, plan.engine, memory, request.now));
    if (report.changed) {
      TRY(make_folders(plan.manifest.parent_path()));
      TRY(write_file(plan.manifest, text));
    }
  }
  add_known_proofs(plan, report);
  if (request.check || request.prove_in.empty()) return report;
  TRY(prove(plan, report,
            {request.prove_in, request.programs, request.options.package_index, request.now, request.step,
             request.cancel}));
  return report;
}

}  // namespace enginehost::follow
