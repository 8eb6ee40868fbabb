// Removal: builds by name, and everything unreferenced.
#include "cache/store_inside.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "cache/sharing.hpp"

namespace enginehost::cache {
namespace inside {
namespace {

constexpr std::int64_t one_day = 24 * 3600;
constexpr std::int64_t keep_seconds = 7 * one_day;    // interrupted downloads and rejected trees
constexpr std::int64_t rest_seconds = 14 * one_day;   // of anything, where locks are not kept
constexpr std::int64_t leap_seconds = 365 * one_day;  // a clock further ahead is not trusted

// Returns the children as far as they can be read.
std::vector<fs::path> children_of(const fs::path& folder) {
  std::error_code error;
  return entries_of(folder, error);
}

std::int64_t changed_at(const fs::path& path) {
  calls::Status status{};
  return calls::lstat(path.c_str(), &status) == 0 ? std::max(status.st_mtime, status.st_ctime) : 0;
}

// The facts and the result of one sweep.
struct Sweep {
  const fs::path& root;
  const bool kept;  // locks work here
  std::int64_t now = believable_time(root);
  Swept swept = {};

  // Without locks, only age shows that no process works on it.
  bool may_go(const fs::path& what) const { return kept || changed_at(what) < now - rest_seconds; }
  bool is_old(const fs::path& what) const { return changed_at(what) < now - keep_seconds; }
  // One thing that cannot be removed must not keep the others.
  void drop(const fs::path& what) {
    if (!may_go(what)) return;
    auto gone = discard(root, what);
    if (gone)
      swept.bytes += *gone;
    else
      swept.stayed.push_back(std::move(gone).error());
  }
  // A folder may hold things that a person needs.
  void put_aside(const fs::path& what) {
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(what, error))) return drop(what);
    if (auto aside = set_aside(root, what); !aside) swept.stayed.push_back(std::move(aside).error());
  }
};

// Leftovers of write_file and try_locks after a kill: ".NAME.<12 hexadecimal digits>" and ".try-…".
bool is_temporary(std::string_view name) {
  if (!name.starts_with('.')) return false;
  if (name.starts_with(".try-")) return true;
  const std::string_view end = name.substr(name.rfind('.') + 1);
  return end.size() == 12 && end.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void sweep_temporary(const Sweep& sweep) {
  const auto sweep_one = [&](const fs::path& file) {
    calls::Status status{};
    if (is_temporary(path_text(file.filename())) && calls::lstat(file.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_mtime < sweep.now - one_day)
      calls::unlink(file.c_str());
  };
  for (const char* folder : {"", "refs", "pins", "locks", "leases", "blobs/sha256"})
    for (const fs::path& file : children_of(sweep.root / folder)) sweep_one(file);
  // Folders of other modules, which use write_file. An inaccessible folder (another user's) does not keep the
  // others from being swept.
  std::vector<fs::path> entries = children_of(sweep.root / "state");
  while (!entries.empty()) {
    const fs::path entry = std::move(entries.back());
    entries.pop_back();
    std::error_code gone;
    if (!fs::is_directory(fs::symlink_status(entry, gone))) {
      sweep_one(entry);
      continue;
    }
    for (fs::path& child : children_of(entry)) entries.push_back(std::move(child));
  }
}

void sweep_unfinished(Sweep& sweep) {
  sweep_temporary(sweep);
  for (const fs::path& record : children_of(sweep.root / "refs"))
    if (is_no_record(record)) sweep.put_aside(record);
  for (const fs::path& left : children_of(sweep.root / "stage")) {
    if (sweep.kept) {
      sweep.drop(left);
      continue;
    }
    for (const fs::path& nonce : children_of(left)) sweep.drop(nonce);
    calls::rmdir(left.c_str());
  }
  for (const char* folder : {"partial", "rejected"})
    for (const fs::path& left : children_of(sweep.root / folder))
      if (sweep.is_old(left)) sweep.drop(left);
}

void sweep_views(Sweep& sweep, const std::set<std::string>& names, std::string_view freed) {
  for (const fs::path& view : children_of(sweep.root / "views")) {
    const std::string digest = path_text(view.filename());
    if (names.contains(digest)) continue;
    std::optional<FileLock> unused;
    if (digest != freed) {
      auto lock = FileLock::try_exclusive(lease_file(sweep.root, digest), {});
      if (lock) unused = std::move(*lock);
      if (!unused && sweep.kept) continue;
    }
    if (!sweep.kept && (in_use(sweep.root, digest) || !sweep.may_go(lease_file(sweep.root, digest))))
      continue;
    sweep.drop(view);
  }
}

// Removes lock files of removed things. A process that waits for a lock checks that the file still has its
// name.
void sweep_locks(Sweep& sweep, const std::set<std::string>& names) {
  if (!sweep.kept) return;
  const auto unlink_unused = [&](const fs::path& file) {
    if (changed_at(file) >= sweep.now - one_day) return;
    if (const auto lock = FileLock::try_exclusive(file, {}); lock && *lock) calls::unlink(file.c_str());
  };
  for (const fs::path& lease : children_of(sweep.root / "leases"))
    if (!names.contains(path_text(lease.stem()))) unlink_unused(lease);
  for (const fs::path& lock : children_of(sweep.root / "locks"))
    if (!path_text(lock.filename()).starts_with('.')) unlink_unused(lock);
}

}  // namespace

bool is_no_record(const fs::path& file) {
  calls::Status status{};
  return calls::lstat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode);
}

std::int64_t believable_time(const fs::path& root) {
  const std::int64_t now = std::time(nullptr);
  std::int64_t newest = 0;
  const auto look = [&](const fs::path& path) {
    calls::Status status{};
    if (calls::lstat(path.c_str(), &status) == 0) newest = std::max<std::int64_t>(newest, status.st_mtime);
  };
  look(root / "refs");
  for (const char* folder : {"refs", "leases"})
    for (const fs::path& file : children_of(root / folder)) look(file);
  return newest == 0 || now - newest < leap_seconds ? now : newest;
}

Result<std::set<std::string>> referred(const fs::path& root) {
  std::set<std::string> names;
  std::error_code error;
  const std::vector<fs::path> files = entries_of(root / "refs", error);
  // Unreadable records still exist.
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    return fail(
        diagnose_errno(Code::cache_unusable, error.value()).with(Key::folder, path_text(root / "refs")));
  for (const fs::path& file : files) {
    if (file.extension() != ".ref" || is_no_record(file)) continue;
    const auto text = read_file(file);
    // Another process may have just removed it.
    if (!text && text.error().value(Key::errno_) == "ENOENT") continue;
    if (!text) return fail(text.error());
    TRY_ASSIGN(const Installed record, read_record(*text, path_text(file)));
    names.insert(record.digest);
    names.insert(record.trees.begin(), record.trees.end());
  }
  return names;
}

Result<bool> drop_unneeded(const fs::path& root, const std::string& name, bool only_look) {
  std::optional<FileLock> unused;
  if (name.starts_with("partial/")) {
    TRY_ASSIGN(const bool kept, are_locks_kept(root));
    if (!kept) return false;
    // "<sha256>", or "<sha256>.<digest of the ranges>" of an archive that is fetched in part.
    const std::string file = name.substr(name.find('/') + 1);
    const fs::path lock = lock_file(root, "archive-" + file.substr(0, file.find('.')));
    TRY_ASSIGN(const bool locked_once, is_there(lock));
    if (locked_once) {
      TRY_ASSIGN(unused, FileLock::try_exclusive(lock, {}));
      if (!unused) return false;
    }
  } else if (!name.starts_with("rejected/")) {
    return false;
  }
  if (!only_look) TRY(discard(root, root / path_of(name)));
  return true;
}

Swept sweep_layer(const fs::path& root, std::string_view freed) {
  const auto kept = are_locks_kept(root);
  if (!kept) return {0, {kept.error()}};
  Sweep sweep{root, *kept};
  sweep_unfinished(sweep);
  auto names = referred(root);
  if (!names) {
    sweep.swept.stayed.push_back(std::move(names.error().with(
        Key::consequence, "no file of a build is removed, because an unreadable record may need it")));
    return std::move(sweep.swept);
  }
  auto orphaned = orphaned_trees_in(root);
  if (!orphaned) {
    sweep.swept.stayed.push_back(std::move(orphaned).error());
    return std::move(sweep.swept);
  }
  names->merge(*orphaned);
  sweep_views(sweep, *names, freed);
  for (const fs::path& tree : children_of(root / "trees"))
    if (!names->contains(path_text(tree.filename()))) sweep.drop(tree);
  for (const fs::path& list : children_of(root / "lists")) {
    const std::string name = path_text(list.filename());
    // A tree that stays keeps its list.
    if (names->contains(name) || is_there(root / "trees" / name).value_or(true)) continue;
    const auto of = name.starts_with("of-") ? read_file(list, 4096) : Result<std::string>(std::string());
    if (!of || !names->contains(of->substr(0, 64))) sweep.drop(list);
  }
  sweep_locks(sweep, *names);
  return std::move(sweep.swept);
}

Result<std::uint64_t> discard(const fs::path& root, const fs::path& what) {
  std::uint64_t bytes = 0;
  std::error_code error;
  const auto count = [&](const fs::path& path) {
    calls::Status status{};
    if (calls::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1)
      bytes += static_cast<std::uint64_t>(status.st_size);
  };
  count(what);
  if (fs::is_directory(fs::symlink_status(what, error)))
    for (const fs::path& entry : entries_below(what, error)) count(entry);
  // Moved away in one step: if the process dies while removing, the next sweep finds the rest in stage/.
  // Where a folder cannot be moved (overlayfs, for a folder of a container's image), it is removed in place,
  // because moving its files one by one would copy each first. If the process dies then, the rest counts as
  // damaged.
  fs::path trash = root / "stage" / ("trash-" + random_hex(8));
  if (calls::rename(what.c_str(), trash.c_str()) != 0) {
    if (errno == ENOENT) return 0;
    if (errno != EXDEV) return fail(disk_failure(errno, what, root));
    trash = what;
  }
  remove_tree(trash, error);
  if (error) return fail(disk_failure(error.value(), trash, root));
  return bytes;
}

Diagnosis in_use(std::string_view build, const fs::path& lock) {
  Diagnosis diagnosis = diagnose(Code::lock_held);
  diagnosis.with(Key::build, build).with(Key::file, path_text(lock));
  const LockHolder holder = FileLock::holder_of(lock);
  if (holder.pid != 0) diagnosis.with(Key::holder, std::to_string(holder.pid), path_text(lock));
  if (holder.pid != 0 && !holder.program.empty())
    diagnosis.with(Key::holder_name, holder.program, path_text(lock));
  return diagnosis;
}

// Removes the record, and with it the build, while nobody holds it. The sweep removes the files.
Result<Released> release(const fs::path& root, std::string_view build, std::string_view program) {
  const fs::path key = lock_file(root, Store::key_of(build)), ref = ref_file(root, build);
  TRY_ASSIGN(const bool kept, are_locks_kept(root));
  auto ours = FileLock::try_exclusive(key, program);
  if (kept && !ours) return fail(std::move(ours).error());
  if (kept && !*ours) return fail(in_use(build, key));
  TRY_ASSIGN(const bool recorded, is_there(ref));
  if (!recorded) return fail(Store::open(root).not_installed(build));
  Released released;
  // The content of a damaged record is lost. A record that is only unreadable may name a lease that a process
  // holds.
  if (!is_no_record(ref)) {
    auto text = read_file(ref);
    if (!text) return fail(std::move(text.error().with(Key::build, build)));
    if (const auto record = read_record(*text, path_text(ref))) {
      released.digest = record->digest;
      const fs::path lease = lease_file(root, released.digest);
      auto unused = FileLock::try_exclusive(lease, {});
      if (kept && !unused) return fail(std::move(unused).error());
      if ((kept && !*unused) || (!kept && in_use(root, released.digest))) return fail(in_use(build, lease));
      if (unused && *unused) released.unused = std::move(**unused);
    }
  }
  if (ours && *ours) released.key = std::move(**ours);
  TRY(clear_for_file(root, ref));
  if (calls::unlink(ref.c_str()) != 0 && errno != ENOENT) return fail(disk_failure(errno, ref, root));
  TRY(sync_folder(ref.parent_path()));
  return released;
}

Result<std::optional<Swept>> sweep_alone(const fs::path& root, std::string_view freed,
                                         std::string_view program) {
  auto alone = FileLock::try_exclusive(publishing_lock(root), program);
  TRY_ASSIGN(const bool kept, are_locks_kept(root));
  if (!kept) return std::optional(sweep_layer(root, freed));
  if (alone && !*alone) {
    // Another process is making something and frees the rest. It checks for the note after releasing the
    // lock, and this process tries the lock again after writing the note, so one of the two sees the other.
    // If the note cannot be written, the next sweep frees the rest.
    static_cast<void>(write_file(sweep_wanted(root), ""));
    alone = FileLock::try_exclusive(publishing_lock(root), program);
  }
  if (!alone) return fail(std::move(alone).error());
  if (!*alone) return std::optional<Swept>();
  calls::unlink(sweep_wanted(root).c_str());
  return std::optional(sweep_layer(root, freed));
}

}  // namespace inside

using namespace inside;

Result<std::uint64_t> Store::remove(std::string_view build, std::vector<Diagnosis>* stayed) const {
  TRY(check_place());
  // A missing build is no reason to create a cache. In an existing cache the key's lock is tried first: a
  // build that is being made is in use (EH-F18), although it has no record yet.
  TRY_ASSIGN(const bool made, is_there(root_));
  if (!made) return fail(not_installed(build));
  TRY(prepare());
  const std::optional<std::string> known = own_record(build);
  const std::string record = known.value_or(std::string(build));
  // The record of that name is another engine's, and the build is in a layer.
  if (!known && is_there(ref_file(root_, record)).value_or(true)) return fail(not_installed(build));
  auto released = release(root_, record, program_);
  if (!released && released.error().code == Code::build_not_installed)
    return fail(not_installed(build));  // it may be in a layer
  if (!released) return fail(std::move(released).error());
  calls::unlink(pin_file(root_, record).c_str());
  TRY_ASSIGN(auto freed, sweep_alone(root_, released->digest, program_));
  if (freed && stayed != nullptr) *stayed = std::move(freed->stayed);
  return freed ? freed->bytes : 0;
}

Result<std::uint64_t> Store::sweep() const {
  TRY(prepare());
  TRY_ASSIGN(const auto swept, sweep_alone(root_, {}, program_));
  return swept ? swept->bytes : 0;
}

Result<std::uint64_t> Store::sweep_if_wanted() const {
  if (root_.empty() || calls::access(sweep_wanted(root_).c_str(), F_OK) != 0) return 0;
  return sweep();
}

}  // namespace enginehost::cache
