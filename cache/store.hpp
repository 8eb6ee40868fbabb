// The store: a content-addressed cache on disk. Several processes share it, and each may die at any
// instruction.
//
//   <root>/CACHEDIR.TAG  LAYER.json  README.txt
//     trees/<tree id>/      a component's files, 0444 and 0555, never edited
//     lists/<tree id>       its canonical list
//     lists/of-whole-<key>  the tree made from an archive that was hashed whole
//     views/<digest>/       the folder a build is loaded from: hard links to (or copies of) its trees' files
//     refs/<name>.ref       the record of an installed build: written last, removed first (record_names.hpp)
//     leases/<digest>.lk    flock SH: in use; its time: last use; its content: crash markers (lease.hpp)
//     locks/<key>.lk        flock EX: being made; the folder is closed to other users
//     pins/<name>.pin       excludes the build from collection
//     stage/<key>/<nonce>/  the only place with unfinished things
//     partial/<sha256>      the bytes of an archive that have arrived so far
//     rejected/             quarantined trees
//     unrecorded            the names of trees that lost their records; usually absent
//     state/                belongs to other modules
//
// Everything is written, synced and renamed into place; readers see nothing or the whole.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/installed.hpp"
#include "cache/lease.hpp"
#include "cache/lock.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache {

// A problem of one installed file.
struct Problem {
  enum class Kind {
    missing,
    empty,
    truncated,
    wrong_size,
    wrong_bytes,
    wrong_kind,
    wrong_mode,
    unexpected,
    unreadable
  };
  Kind kind = Kind::missing;
  std::string path;     // in the view
  Diagnosis diagnosis;  // EH-F01, F02, F04, F08, F11: "build", "file", "needed_size", "size", …
};
const char* name_of(Problem::Kind kind);

// Fetches files of a tree into `into`/<path> and returns their source. It may omit files. The caller hashes
// every fetched file before use.
using FetchFiles = std::function<Result<std::string>(
    const std::string& tree, const std::vector<TreeEntry>& wanted, const std::filesystem::path& into)>;

struct RepairedFile {
  Problem problem;  // before the repair
  // "the view", "the tree", "its list", "layer /…", "mode", "removed", or the source that FetchFiles
  // returned.
  std::string from;
};

struct Repaired {
  std::vector<RepairedFile> files;
  std::vector<Problem> left;           // could not be repaired
  std::vector<Diagnosis> not_fetched;  // the reasons why FetchFiles did not fetch them
};

// Options and result of a collection (Store::collect).
struct CollectOptions {
  // Limit in bytes on disk. Above it, quarantined trees and abandoned downloads are removed first, then the
  // longest unused builds until nine tenths of the limit are left. No build is removed if all removable ones
  // together would not suffice. 0 removes everything that may be removed.
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::chrono::seconds> max_age;  // removes builds unused for longer
  bool orphaned = false;                        // also remove trees that lost their records
  bool dry_run = false;                         // only reports what would be removed
};

struct Collected {
  struct Build {
    std::string build;
    std::uint64_t size = 0;      // of all its files
    std::int64_t last_used = 0;  // seconds since 1970
    std::string
        why;  // "not used for …", "to stay below …"; for a kept build: "in use", "pinned", "being made"
    std::optional<LockHolder> holder;  // of a kept build that is in use or being made
  };
  std::vector<Build> removed;  // with dry_run: would be removed
  std::vector<Build> kept;     // would have been removed, but for the reason in `why`
  // Trees without a record since the folder of records was lost. They stay unless `orphaned` is set, because
  // their builds can be installed again without a download.
  struct Tree {
    std::string tree;
    std::uint64_t size = 0;  // on disk
  };
  std::vector<Tree> orphaned;
  // `logical`: the size of all builds of this layer as if nothing were shared. `physical`: the size on disk.
  // Files that the file system itself shares (reflinks) count in full.
  std::uint64_t logical_before = 0, logical_after = 0, physical_before = 0, physical_after = 0;
  // More than `max_bytes` is left, and nothing more may be removed.
  bool bound_missed = false;
  // The reason for each thing that could not be removed. A record that cannot be read keeps all builds and
  // their files.
  std::vector<Diagnosis> stayed;
  // Another process is making something; it frees unreferenced files when it is done.
  bool left_to_maker = false;
  std::optional<LockHolder> maker;  // that process
  // The clock is more than a year ahead of everything in the cache and is not trusted, so nothing was removed
  // for its age.
  bool clock_in_doubt = false;
  // Locks do not work in this layer, so files are removed two weeks after their last use.
  bool waits_for_rest = false;
};

// The size of a layer in bytes.
struct Usage {
  std::uint64_t logical = 0, physical = 0;
};

// Holds the lock of a key and an empty folder stage/<key>/<nonce>; the destructor releases both. While any
// stage lives, nothing that was published but is not yet referred to is swept. Thread safety: one thread at a
// time.
class Stage {
 public:
  Stage(Stage&& other) noexcept;
  Stage& operator=(Stage&& other) noexcept;
  ~Stage();

  const std::filesystem::path& folder() const { return folder_; }
  void report_progress(std::uint64_t done, std::uint64_t total) { lock_.report_progress(done, total); }

 private:
  friend class Store;
  Stage(FileLock lock, FileLock publishing, std::filesystem::path folder)
      : lock_(std::move(lock)), publishing_(std::move(publishing)), folder_(std::move(folder)) {}

  FileLock lock_, publishing_;
  std::filesystem::path folder_;
};

// A handle: cheap to copy, without state other than paths. Thread safety: any thread and any number of
// processes.
class Store {
 public:
  // Opens a store without touching the disk. `layers` are read-only caches that are searched first, in order;
  // the root is not one of them. `program` is the name that waiting processes show.
  static Store open(std::filesystem::path root, std::vector<std::filesystem::path> layers = {},
                    std::string program = {});

  const std::filesystem::path& root() const { return root_; }
  const std::vector<std::filesystem::path>& layers() const { return layers_; }

  // Checks that a writable layer is configured. Errors: EH-F16 ("problem", "variable") if no cache is named
  // and the user has no home. Only the read-only layers are used then.
  Result<void> check_place() const;

  // Runs check_place() and checks that the installed builds can be listed. Errors: EH-F23 ("folder") if a
  // folder of the writable layer cannot be read or is no folder. A layer that does not exist yet is in order.
  Result<void> check_readable() const;

  // Checks whether prepare() would be allowed to write, without writing. Another program may change that, and
  // a disk may be full. Errors: as prepare(), except EH-F15.
  Result<void> check_writable() const;

  // Returns an EH-F23 ("folder", "in_the_way", "problem") for each of the writable layer's own folders whose
  // place is taken: by a file, a pipe, a link to no folder. The file `unrecorded` is checked too. prepare()
  // moves them aside (NAME.aside-… in the layer) and never removes them.
  std::vector<Diagnosis> unexpected_entries() const;
  // Moves one of them aside. Returns its new path, or nothing if it was in order by then.
  Result<std::optional<std::filesystem::path>> move_aside(const std::filesystem::path& odd) const;

  // Makes the folders of the writable layer; unexpected entries are moved aside. Every function that writes
  // calls it. Errors: as check_place(); EH-F15, EH-F16 with "folder"; EH-F16 with "format" if a newer program
  // made this cache; EH-F23 ("file", "damaged") if LAYER.json is damaged.
  Result<void> prepare() const;

  // Returns the build's record after a stat of its loadable files; nothing if it is not installed. Only files
  // whose stamp differs are hashed. Errors, with "build", "file", "needed_size", "size", "layer": EH-F01
  // (missing), EH-F02 (empty), EH-F04 (too short), EH-F08 (other bytes).
  // `is_wanted`: skips records for which it returns false, since a layer may have other files under the same
  // name.
  Result<std::optional<Installed>> find(std::string_view build,
                                        const std::function<bool(const Installed&)>& is_wanted = {}) const;

  // Returns summaries (no files, no manifest) of all installed builds, sorted by name; for a build that
  // several layers have, the first one wins. Damaged records are omitted. No file is checked. `unread` gets
  // an EH-F23 ("file" or "folder", "layer") for each record or folder of records that could not be read: its
  // builds may be installed.
  std::vector<Installed> list(std::vector<Diagnosis>* unread = nullptr) const;

  // Returns one record without checking its files; nothing if it is not installed.
  Result<std::optional<Installed>> record_of(std::string_view build) const;

  // Returns the name of the record that the writable layer has of a build, readable or not; nothing if it has
  // none.
  std::optional<std::string> own_record(std::string_view build) const;

  // Returns EH-S23 for a request that needs that build installed: "build", "folder", every "installed" one
  // and the "nearest" of them. Returns EH-F23 instead if the installed builds cannot be listed.
  Diagnosis not_installed(std::string_view build) const;

  // Returns the list of one of its trees, checked against the tree's id. Errors: EH-F01, EH-F08 with "file".
  Result<TreeList> list_of(const Installed& installed, std::string_view tree_id) const;
  // Returns the folder of that tree's files.
  static std::filesystem::path tree_folder(const std::filesystem::path& layer, std::string_view tree_id) {
    return layer / "trees" / tree_id;
  }

  // Keeps the build from being removed, and records its use (at most hourly). Waits two seconds at most;
  // after that, and on a layer without lock files, the lease holds nothing. Errors: EH-F01 ("build",
  // "problem") if the build was removed meanwhile; the caller then looks it up again.
  Result<Lease> lease(const Installed& installed) const;

  // Leases a build for a caller that has its record and knows that it has not been rewritten since. Only for
  // a build in the writable layer, and where keeps_locks(). Checks only the lock and the files, and fills in
  // the folder. Errors: EH-F01 ("build") on any problem; the caller then looks the build up.
  Result<Lease> lease_as_recorded(Installed& record) const;
  // Returns whether locks work on the cache's file system; constant for one file system.
  bool keeps_locks() const;

  // --- making ---
  // Returns the key under which a build is installed, repaired and removed.
  static std::string key_of(std::string_view build) { return "build-" + std::string(build); }
  // Waits for the key's lock and returns an empty private folder. Leftovers of the key's dead owners are
  // removed.
  Result<Stage> stage(std::string_view key, const WaitOptions& wait = {}) const;
  // Fails with EH-F15 ("folder", "needed", "free") if the cache's file system has less than `bytes` free or
  // no inodes, and with EH-F17 ("limit") if a file of `largest` bytes exceeds RLIMIT_FSIZE.
  Result<void> require_space(std::uint64_t bytes, std::uint64_t largest = 0) const;
  // Returns whether the tree exists; rebuilds a missing list of an intact tree. Does not check the files: see
  // reject_if_damaged.
  bool has_tree(std::string_view tree_id) const;
  // Hashes every file of a tree. A tree that differs from its list is quarantined in rejected/, so that it is
  // made again when needed. A damaged list of an intact tree is rebuilt first. Returns the problem, or
  // nothing. Errors: EH-F18 if another process keeps the tree's lock.
  Result<std::optional<Diagnosis>> reject_if_damaged(std::string_view tree_id) const;
  // Returns the tree made from the archive with this key, if it is present.
  std::optional<std::string> tree_of(std::string_view archive_key) const;
  // The same as an older version noted it (lists/of-<key>), which also did so for archives that it had not
  // hashed. It counts only for a build whose record names that tree. Nothing writes it any more.
  std::optional<std::string> older_tree_of(std::string_view archive_key) const;
  // Moves a finished folder (TreeWriter::finish) to its place. `archive_key`: of the archive that it was made
  // from, if the digest of the whole archive was compared; else empty. If another process was first, that is
  // success; a damaged tree in the place is quarantined. Views of other builds that hold files of a damaged
  // tree are repaired.
  Result<std::string> publish_tree(const TreeList& list, const std::filesystem::path& folder,
                                   std::string_view archive_key) const;
  // Makes or repairs the view of these trees. Files that differ from the trees are replaced one by one, so
  // that a process that uses the view is not disturbed. Errors: EH-F20 ("path", "first", "second") if two
  // trees hold different bytes under one path.
  Result<std::filesystem::path> make_view(const std::vector<std::string>& tree_ids, Stage& stage) const;
  // Installs a build: fills in name, digest, size, file stamps and time, and writes the record. A record of
  // another engine is never replaced.
  Result<Installed> write_ref(Installed installed) const;

  // --- care ---
  // Returns the problems of an installed build; `deep` hashes every file. Errors: EH-S23 if it is not
  // installed, or the error of reading its lists.
  Result<std::vector<Problem>> verify(std::string_view build, bool deep,
                                      const std::optional<CancelToken>& cancel = {}) const;
  // Hashes files of an installed build in a random order until `most_bytes` are hashed, but at least one.
  // Returns the first problem, as verify() does. Errors: those of reading its lists; EH-P10.
  Result<std::optional<Diagnosis>> check_bytes(const Installed& installed, std::uint64_t most_bytes,
                                               const std::optional<CancelToken>& cancel = {}) const;
  // Replaces damaged or missing files of an installed build of the writable layer, one by one. Sources, in
  // order: the build's view, another tree of this store, a layer, and `fetch`, which may be empty. A process
  // that has a file open keeps the old one. The result lists what could not be repaired. Errors: EH-S23 if
  // the build is not installed; EH-F01, EH-F08 if the record or a list is beyond repair (the build must be
  // installed again).
  Result<Repaired> repair(std::string_view build, Stage& stage, const FetchFiles& fetch,
                          const std::optional<CancelToken>& cancel = {}) const;
  // Quarantines the damaged trees of the build (every file is hashed) in rejected/, so that the next install
  // makes them again. Returns their ids. The view stays: make_view repairs it.
  Result<std::vector<std::string>> reject_damaged(std::string_view build, Stage& stage) const;
  // Removes a build and its pin. Returns the freed bytes: none while another process is making something,
  // because that process frees them later. `stayed` gets the reason for each unreferenced thing that could
  // not be removed. Errors: EH-F18 ("build", "file") if the build is in use; EH-S23 if it is not installed in
  // the writable layer.
  Result<std::uint64_t> remove(std::string_view build, std::vector<Diagnosis>* stayed = nullptr) const;
  // Removes everything unreferenced (trees, views, stages of dead owners), unless something is being made.
  // Returns the freed bytes.
  Result<std::uint64_t> sweep() const;
  // Sweeps if a removal left that to a process that was making something; otherwise takes one system call.
  // Call it without holding a stage, after having had one.
  Result<std::uint64_t> sweep_if_wanted() const;
  // Removes builds by age and size, then sweeps. A build that is in use, pinned or being made stays. A
  // process that needs a build being removed finds it missing (find, lease) and installs it again.
  Result<Collected> collect(const CollectOptions& options) const;
  Usage usage() const;  // of the writable layer; reads every folder
  // Rewrites a damaged LAYER.json, so that the layer becomes writable again. Returns whether it was damaged.
  Result<bool> repair_layout() const;
  // Returns when the build of the writable layer was last leased or installed, in seconds since 1970, never
  // in the future. If that is unknown, returns now.
  std::int64_t last_used(const Installed& installed) const;
  // Excludes a build from collection. Errors: EH-S23 if it is not installed in the writable layer.
  Result<void> pin(std::string_view build) const;
  // Returns false if it was not pinned. Errors: EH-S23 if it is neither pinned nor installed there.
  Result<bool> unpin(std::string_view build) const;
  // Returns false for a build that is not in the writable layer. Fails with EH-F23 ("file") if the pin cannot
  // be read now.
  Result<bool> is_pinned(std::string_view build) const;
  Result<bool> is_pinned(const Installed& installed) const;

  // Returns the file of an unfinished download; use it only under the stage of its digest. Where locks do not
  // work, the file is in the stage itself, because another process may still be writing to a shared one.
  std::filesystem::path partial(std::string_view sha256, const Stage& stage) const;
  std::filesystem::path partial(std::string_view sha256) const { return root_ / "partial" / sha256; }

 private:
  std::filesystem::path root_;
  std::vector<std::filesystem::path> layers_;
  std::string program_;
};

}  // namespace enginehost::cache
