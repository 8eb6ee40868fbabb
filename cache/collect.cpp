// Collection: chooses builds to remove by age and size.
#include "cache/store.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <map>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/sharing.hpp"
#include "cache/store_inside.hpp"

namespace enginehost::cache {
namespace {

using namespace inside;

// Bytes on disk by owner: "trees/<id>", "views/<digest>" (only files of its own) and the rest.
struct Measured {
  std::map<std::string, std::uint64_t> parts;
  std::uint64_t sum() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, size] : parts) bytes += size;
    return bytes;
  }
};

Measured measure(const fs::path& root) {
  Measured measured;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  const auto count = [&](const fs::path& file, std::uint64_t& sum) {
    calls::Status status{};
    if (calls::lstat(file.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return;
    if (status.st_nlink > 1 && !seen.insert({status.st_dev, status.st_ino}).second) return;
    sum += static_cast<std::uint64_t>(status.st_blocks) * 512;
  };
  // Trees first, because a file that a view shares with its tree counts as the tree's.
  for (const char* folder : {"trees", "views", "lists", "partial", "stage", "rejected"}) {
    std::error_code error;
    for (const fs::path& entry : entries_of(root / folder, error)) {
      std::string name = path_text(entry.filename());
      // The note of an archive's tree is removed with that tree.
      if (name.starts_with("of-") && std::string_view(folder) == "lists")
        name = std::string(trim(read_file(entry, 4096).value_or(name)));
      std::uint64_t& sum = measured.parts[std::string(folder) + "/" + name];
      count(entry, sum);
      std::error_code inner;
      if (fs::is_directory(fs::symlink_status(entry, inner)))
        for (const fs::path& file : entries_below(entry, inner)) count(file, sum);
    }
  }
  return measured;
}

std::vector<Installed> builds_of(const fs::path& root, std::vector<Diagnosis>* unread = nullptr) {
  return Store::open(root).list(unread);
}

std::uint64_t logical_of(const std::vector<Installed>& builds) {
  std::uint64_t bytes = 0;
  for (const Installed& build : builds) bytes += build.size;
  return bytes;
}

// Returns the bytes on disk if only these builds stay.
std::uint64_t bytes_with(const Measured& measured, const std::vector<const Installed*>& builds,
                         const std::set<std::string>& orphaned) {
  std::set<std::string> names;
  for (const std::string& tree : orphaned) {
    names.insert("trees/" + tree);
    names.insert("lists/" + tree);
  }
  for (const Installed* build : builds) {
    names.insert("views/" + build->digest);
    for (const std::string& tree : build->trees) {
      names.insert("trees/" + tree);
      names.insert("lists/" + tree);
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [name, size] : measured.parts)
    if (names.contains(name) || name.starts_with("partial/") || name.starts_with("rejected/")) bytes += size;
  return bytes;
}

// Why a build cannot be removed now. An empty reason: it can.
struct Kept {
  std::string why;
  std::optional<LockHolder> holder = {};
};

// One collection, from its first look at the layer to its report.
class Collection {
 public:
  Collection(const Store& store, const CollectOptions& options) : options_(options) {
    for (Installed& build : builds_of(store.root(), &unread)) builds_.push_back({std::move(build), 0, false});
    for (Candidate& candidate : builds_) candidate.last_used = store.last_used(candidate.build);
    std::stable_sort(builds_.begin(), builds_.end(), [](const Candidate& left, const Candidate& right) {
      return left.last_used < right.last_used;
    });
    measured_ = measure(store.root());
    now_ = believable_time(store.root());
    report.clock_in_doubt = now_ != std::time(nullptr) && std::time(nullptr) - now_ > 60;
    report.waits_for_rest = !locks_are_kept(store.root());
    report.physical_before = measured_.sum();
    for (const Candidate& candidate : builds_) report.logical_before += candidate.build.size;
  }

  // Unneeded things are removed before any build. `drop`: true when it is gone.
  template <class Drop>
  void make_room(const Drop& drop) {
    if (!options_.max_bytes || left() <= *options_.max_bytes) return;
    std::erase_if(measured_.parts, [&](const auto& part) {
      auto gone = drop(part.first);
      if (!gone) report.stayed.push_back(std::move(gone).error());
      return gone && *gone;
    });
  }

  // `keeps` returns why the build cannot be removed now, or nothing; it fails if that is unknown. `take` does
  // the same and removes the build's record.
  template <class Keeps, class Take>
  void choose(const Keeps& keeps, const Take& take) {
    for (Candidate& candidate : builds_) {
      const std::int64_t age = now_ - candidate.last_used;
      if (options_.max_age && !report.clock_in_doubt && age >= options_.max_age->count())
        let_go(candidate, "not used for " + std::to_string(age / (24 * 3600)) + " days", take);
    }
    if (!options_.max_bytes || left() <= *options_.max_bytes) return;
    std::map<std::string, Result<Kept>> kept;
    for (const Candidate& candidate : builds_)
      if (!candidate.gone)
        if (auto reason = keeps(candidate.build); !reason || !reason->why.empty())
          kept.emplace(candidate.build.build, std::move(reason));
    const std::uint64_t least = left([&](const Candidate& one) { return kept.contains(one.build.build); });
    const bool in_vain = least > *options_.max_bytes && *options_.max_bytes != 0;
    if (in_vain) {
      // The builds that keep the limit from being reached are reported as found. A second check might find
      // one free, which would then be removed alone.
      for (Candidate& candidate : builds_)
        if (const auto found = kept.find(candidate.build.build); found != kept.end() && !candidate.tried)
          note(candidate, {}, std::move(found->second));
      return;
    }
    const std::uint64_t low_water =
        *options_.max_bytes == 0 ? 0 : std::max(least, *options_.max_bytes / 10 * 9);
    for (Candidate& candidate : builds_) {
      if (left() <= low_water) break;
      let_go(candidate, "to stay below " + format_bytes(*options_.max_bytes), take);
    }
  }

  // `noted`: trees that lost their records. Those that have a record again are in order.
  void note_orphaned_trees(const std::set<std::string>& noted, const std::set<std::string>& recorded) {
    for (const std::string& tree : noted) {
      if (recorded.contains(tree)) continue;
      const auto part = measured_.parts.find("trees/" + tree);
      report.orphaned.push_back({tree, part == measured_.parts.end() ? 0 : part->second});
      if (!options_.orphaned) orphaned_.insert(tree);
    }
  }

  std::uint64_t left() const {
    return left([](const auto& candidate) { return !candidate.gone; });
  }
  void note_bound(std::uint64_t bytes) {
    report.bound_missed = options_.max_bytes && bytes > *options_.max_bytes && !report.left_to_maker;
  }

  Collected report;
  std::vector<Diagnosis> unread;  // of records: the known builds are not all

 private:
  struct Candidate {
    Installed build;
    std::int64_t last_used;
    bool gone, tried = false;
  };

  template <class Stays>
  std::uint64_t left(const Stays& stays) const {
    std::vector<const Installed*> staying;
    for (const Candidate& candidate : builds_)
      if (!candidate.gone && stays(candidate)) staying.push_back(&candidate.build);
    return bytes_with(measured_, staying, orphaned_);
  }

  template <class Take>
  void let_go(Candidate& candidate, const std::string& why, const Take& take) {
    if (candidate.gone || std::exchange(candidate.tried, true)) return;
    note(candidate, why, take(candidate.build));
  }

  // One build that cannot be checked or removed must not keep the others.
  void note(Candidate& candidate, const std::string& why, Result<Kept> kept) {
    if (!kept) {
      report.stayed.push_back(std::move(kept.error().with(Key::build, candidate.build.build)));
      kept = Kept{"a failure; the reason is listed separately"};
    }
    candidate.gone = kept->why.empty();
    Collected::Build reported{candidate.build.build, candidate.build.size, candidate.last_used,
                              candidate.gone ? why : kept->why, std::move(kept->holder)};
    (candidate.gone ? report.removed : report.kept).push_back(std::move(reported));
  }

  const CollectOptions& options_;
  std::vector<Candidate> builds_;
  Measured measured_;
  std::set<std::string> orphaned_;  // that stay
  std::int64_t now_ = 0;
};

// Changes nothing. Waits for no lock, because an engine may be open for days.
Result<Kept> what_keeps(const fs::path& root, const Installed& build) {
  const auto is_free = [](const fs::path& file) -> Result<bool> {
    TRY_ASSIGN(const bool locked_once, is_there(file));
    if (!locked_once) return true;
    TRY_ASSIGN(const auto lock, FileLock::try_exclusive(file, {}));
    return lock.has_value();
  };
  TRY_ASSIGN(const bool pinned, is_there(pin_file(root, build.build)));
  if (pinned) return Kept{"pinned"};
  TRY_ASSIGN(const bool kept, are_locks_kept(root));
  if (!kept) return Kept{in_use(root, build.digest) ? "in use" : ""};
  const fs::path key = lock_file(root, Store::key_of(build.build)), lease = lease_file(root, build.digest);
  TRY_ASSIGN(const bool at_rest, is_free(key));
  if (!at_rest) return Kept{"being made", FileLock::holder_of(key)};
  TRY_ASSIGN(const bool unused, is_free(lease));
  if (!unused) return Kept{"in use", FileLock::holder_of(lease)};
  return Kept{};
}

}  // namespace

std::int64_t Store::last_used(const Installed& installed) const {
  calls::Status status{};
  std::int64_t used = installed.installed_at;
  if (calls::stat(lease_file(root_, installed.digest).c_str(), &status) == 0)
    used = std::max<std::int64_t>(used, status.st_mtime);
  else if (errno != ENOENT && errno != ENOTDIR)
    return std::time(nullptr);
  return std::min<std::int64_t>(used, std::time(nullptr));
}

Usage Store::usage() const { return {logical_of(builds_of(root_)), measure(root_).sum()}; }

Result<Collected> Store::collect(const CollectOptions& options) const {
  TRY(check_readable());
  TRY_ASSIGN(const bool made, is_there(root_));
  if (!made) return Collected{};
  // Unreadable pins and leases may keep any build.
  if (auto odd = unexpected_entries(); !odd.empty()) return fail(std::move(odd.front()));
  if (!options.dry_run) TRY(prepare());
  Collection collection(*this, options);
  Collected& report = collection.report;
  // Below layers a record may be called otherwise (record_names.hpp).
  std::map<std::string, std::string> names;
  if (!layers_.empty())
    for (const Installed& one : list())
      if (!one.read_only && !one.record.empty()) names.emplace(one.record, one.build);
  const auto finished = [&] {
    for (auto* builds : {&report.removed, &report.kept})
      for (Collected::Build& one : *builds)
        if (const auto name = names.find(one.build); name != names.end()) one.build = name->second;
    return std::move(report);
  };
  // An unreadable record may need any file: builds would be lost and nothing freed.
  auto records = referred(root_);
  if (records && !collection.unread.empty()) records = fail(std::move(collection.unread.front()));
  if (records) {
    TRY_ASSIGN(const auto noted, orphaned_trees_in(root_));
    collection.note_orphaned_trees(noted, *records);
    if (options.orphaned && !options.dry_run) TRY(keep_orphaned_trees(root_, {}));
  }
  std::string freed;
  std::vector<Released> released;  // holds their locks until the files are gone
  collection.make_room([&](const std::string& name) { return drop_unneeded(root_, name, options.dry_run); });
  // A removed build may share its view with the next candidate. Our lock on the view is released first, so
  // that only locks of others count.
  const auto let_go_of = [&](const std::string& digest) {
    for (Released& one : released)
      if (one.digest == digest) one.unused = FileLock();
  };
  const auto keeps = [&](const Installed& build) {
    let_go_of(build.digest);
    return what_keeps(root_, build);
  };
  if (records)
    collection.choose(keeps, [&](const Installed& build) -> Result<Kept> {
      TRY_ASSIGN(Kept kept, keeps(build));
      if (!kept.why.empty() || options.dry_run) return kept;
      auto gone = release(root_, build.build, program_);
      // Another process has taken or removed it between the check and the lock.
      if (!gone && gone.error().code == Code::lock_held) return Kept{"in use"};
      if (!gone && gone.error().code == Code::build_not_installed) return Kept{};
      if (!gone) return fail(std::move(gone).error());
      released.push_back(std::move(*gone));
      return Kept{};
    });
  if (options.dry_run) {
    report.physical_after = collection.left();
    collection.note_bound(report.physical_after);
    if (!records) report.stayed.push_back(records.error());
    report.logical_after = report.logical_before;
    for (const Collected::Build& gone : report.removed) report.logical_after -= gone.size;
    return finished();
  }
  // Two builds may share a view; our own lock on it would look like another process's to the sweep.
  for (Released& one : released) one.unused = FileLock();
  TRY_ASSIGN(auto swept, sweep_alone(root_, {}, program_));
  report.left_to_maker = !swept;
  if (!swept) report.maker = FileLock::holder_of(publishing_lock(root_));
  if (swept) std::move(swept->stayed.begin(), swept->stayed.end(), std::back_inserter(report.stayed));
  // The sweep may have reported the same problem.
  const auto is_reported = [&](const Diagnosis& why) {
    return std::ranges::any_of(report.stayed, [&](const Diagnosis& reported) {
      return reported.code == why.code && reported.value(Key::file) == why.value(Key::file) &&
             reported.value(Key::folder) == why.value(Key::folder);
    });
  };
  if (!records && !is_reported(records.error())) report.stayed.push_back(records.error());
  const Usage after = usage();
  report.logical_after = after.logical;
  report.physical_after = after.physical;
  collection.note_bound(after.physical);
  return finished();
}

Result<void> Store::pin(std::string_view build) const {
  TRY(check_place());
  const std::optional<std::string> record = own_record(build);
  if (!record) return fail(not_installed(build));
  TRY(prepare());
  return write_file(pin_file(root_, *record), "");
}

Result<bool> Store::unpin(std::string_view build) const {
  TRY(check_place());
  const std::optional<std::string> record = own_record(build);
  // The record of that name is another engine's, and the build is in a layer.
  if (!record && is_there(ref_file(root_, build)).value_or(true)) return fail(not_installed(build));
  const fs::path file = pin_file(root_, record.value_or(std::string(build)));
  if (calls::unlink(file.c_str()) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) return fail(disk_failure(errno, file, root_));
  if (!record) return fail(not_installed(build));
  return false;
}

Result<bool> Store::is_pinned(std::string_view build) const {
  const std::optional<std::string> record = own_record(build);
  if (!record) return false;
  return is_there(pin_file(root_, *record));
}

Result<bool> Store::is_pinned(const Installed& installed) const {
  if (installed.read_only) return false;
  return is_there(pin_file(root_, record_name(installed)));
}

}  // namespace enginehost::cache
