// The store: a content-addressed cache on disk, shared by processes that may die at any instruction.
//
//   <root>/CACHEDIR.TAG  LAYER.json  README.txt
//     trees/<tree id>/      a component's files, 0444 and 0555, never edited
//     lists/<tree id>       its canonical list;   lists/of-<key>  the tree that an archive gave
//     views/<digest>/       the folder a build is loaded from: hard links to (or copies of) its trees' files
//     refs/<build>.ref      the record of an installed build: written last, removed first
//     leases/<digest>.lk    flock SH: in use; its time: last used; in it words (lease.hpp)
//     locks/<key>.lk        flock EX: being made
//     pins/<build>.pin      collecting leaves it alone
//     stage/<key>/<nonce>/  the only place with unfinished things
//     partial/<sha256>      the bytes of an archive that have arrived so far
//     rejected/             damaged trees, out of the way
//     unrecorded            the names of trees that lost their records; mostly not there
//     state/                belongs to other modules
//
// Everything is written, synced and renamed into place; readers see nothing or the whole.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/collect.hpp"
#include "cache/installed.hpp"
#include "cache/lease.hpp"
#include "cache/lock.hpp"
#include "cache/problem.hpp"
#include "cache/repair.hpp"
#include "cache/stage.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache {

// A handle: cheap to copy, no state but paths. All functions may be called from any thread and any number of
// processes at once.
class Store {
 public:
  // `layers` are read-only caches that are looked into first, in order; the root itself is none. Makes
  // nothing on disk. `program` is what others are told when they wait for us.
  static Store open(std::filesystem::path root, std::vector<std::filesystem::path> layers = {},
                    std::string program = {});

  const std::filesystem::path& root() const { return root_; }
  const std::vector<std::filesystem::path>& layers() const { return layers_; }

  // Whether there is a place for the writable layer at all: EH-F16 ("problem", "variable") without one, which
  // is so when nobody named one and the user has no home. Only the layers are looked into then.
  Result<void> check_place() const;

  // The same, and whether what is installed can be told: EH-F23 ("folder") when a folder of the writable
  // layer cannot be read, or is none. A layer that nobody has made yet is in order.
  Result<void> check_readable() const;

  // Those of the writable layer's own folders in whose place something else lies: a file, a pipe, a link that
  // leads to no folder; and its file `unrecorded`, where that is no file. Each is an EH-F23 ("folder",
  // "in_the_way", "problem"). Whoever prepares moves them aside (NAME.aside-… in the layer), never removes
  // them.
  std::vector<Diagnosis> unexpected_entries() const;
  // One of them. Where it lies then; nothing when it was in order meanwhile.
  Result<std::optional<std::filesystem::path>> move_aside(const std::filesystem::path& odd) const;

  // Makes the folders of the writable layer, odd places moved aside. As check_place(); EH-F15, EH-F16 with
  // "folder"; EH-F16 with "format" when a newer program made this cache; EH-F23 ("file", "damaged") when
  // LAYER.json is damaged. Everything that writes calls it.
  Result<void> prepare() const;

  // The build's record after a stat of its loadable files; nothing is hashed unless a stamp differs. Nothing
  // when it is not installed. EH-F01 (missing), EH-F02 (empty), EH-F04 (too short), EH-F08 (other bytes) with
  // "build", "file", "needed_size", "size", "layer" when it is damaged.
  Result<std::optional<Installed>> find(std::string_view build) const;

  // Summaries (no files, no manifest) of all installed builds, sorted by build id; the first layer wins.
  // What is damaged is left out. Nothing is stat'ed. `unread`: an EH-F23 ("file" or "folder", "layer") for
  // each record, and each folder of them, that the system would not read: what it names may be installed.
  std::vector<Installed> list(std::vector<Diagnosis>* unread = nullptr) const;

  // Everything of one record without looking at its files; nothing when not installed.
  Result<std::optional<Installed>> record_of(std::string_view build) const;

  // EH-S23 for a request that needs that build installed: "build", "folder", every "installed" one and the
  // "nearest" of them. EH-F23 in its place when what is installed cannot be told.
  Diagnosis not_installed(std::string_view build) const;

  // The list of one of its trees, checked against the tree's id. EH-F01, EH-F08 with "file".
  Result<TreeList> list_of(const Installed& installed, std::string_view tree_id) const;
  // Where that tree's files lie.
  static std::filesystem::path tree_folder(const std::filesystem::path& layer, std::string_view tree_id) {
    return layer / "trees" / tree_id;
  }

  // Keeps the build from being removed, and notes that it was used (at most hourly). Waits for nobody longer
  // than two seconds; the lease then holds nothing, as on a layer without lock files. EH-F01 ("build",
  // "problem") when the build was removed meanwhile: look it up again.
  Result<Lease> lease(const Installed& installed) const;

  // find() and lease() of a build that was leased before, in fewer looks. EH-F01 ("build") when it is not
  // installed, or under another digest.
  struct Leased {
    Installed installed;
    Lease lease;
  };
  Result<Leased> find_leased(std::string_view build, std::string_view digest) const;

  // The same for who knows the record, of a build in the cache itself where that keeps_locks(), and knows
  // that nobody has written it since: only the lock and the files are looked at. Fills in the folder. EH-F01
  // ("build") where anything is in the way: look the build up then.
  Result<Lease> lease_as_recorded(Installed& record) const;
  // Whether locks are kept on the cache's file system, which stays so while it is the same.
  bool keeps_locks() const;

  // --- making ---
  // The key under which a build is installed, repaired and removed.
  static std::string key_of(std::string_view build) { return "build-" + std::string(build); }
  // Waits for the key's lock and gives an empty private folder. Leftovers of dead owners of the key are
  // removed.
  Result<Stage> stage(std::string_view key, const WaitOptions& wait = {}) const;
  // EH-F15 ("folder", "needed", "free") when the cache's file system has less than `bytes` free or no inodes;
  // EH-F17 ("limit") when a file of `largest` bytes exceeds RLIMIT_FSIZE.
  Result<void> require_space(std::uint64_t bytes, std::uint64_t largest = 0) const;
  // Only whether it is there; a list that is missing is made again out of a tree that is whole. Before it is
  // used again, see reject_if_damaged.
  bool has_tree(std::string_view tree_id) const;
  // Hashes every file of a tree that is here; one that is not as its list says (made again where it is
  // damaged and the tree is whole) moves to rejected/, so that whoever needs it makes it again. What was
  // wrong, or nothing. EH-F18 when someone keeps the tree's lock.
  Result<std::optional<Diagnosis>> reject_if_damaged(std::string_view tree_id) const;
  // The tree that the archive with this key gave, if it is (still) here.
  std::optional<std::string> tree_of(std::string_view archive_key) const;
  // Moves a finished folder (TreeWriter::finish) to its place and records what archive gave it (may be
  // empty). Someone else having been first is success, unless what lies there is damaged: that is put aside.
  // Views of other builds that hold files of a tree that was damaged are repaired.
  Result<std::string> publish_tree(const TreeList& list, const std::filesystem::path& folder,
                                   std::string_view archive_key) const;
  // Makes or repairs the view of these trees: files that are not what the trees hold are replaced one by one,
  // so that a process that has the view open is not disturbed. EH-F20 ("path", "first", "second") when two
  // trees hold different bytes under one path.
  Result<std::filesystem::path> make_view(const std::vector<std::string>& tree_ids, Stage& stage) const;
  // Fills in digest, trees' size, the files' stamps and the time, and writes the record. The build is
  // installed then.
  Result<Installed> write_ref(Installed installed) const;

  // --- looking after ---
  // What is wrong with an installed build; `deep` hashes every file. Empty: nothing. Fails only when it is
  // not installed (EH-S23) or its lists cannot be read.
  Result<std::vector<Problem>> verify(std::string_view build, bool deep,
                                      const std::optional<CancelToken>& cancel = {}) const;
  // Replaces what is damaged or missing of an installed build of the writable layer, file by file: from the
  // build's view, another tree of this store, a layer, and at last `fetch`, which may be empty. A process
  // that has a file open keeps what it has. What could not be repaired is left in the answer. EH-S23
  // when it is not installed; EH-F01, EH-F08 when the record or a list is beyond repair (and the build must
  // be installed again).
  Result<Repaired> repair(std::string_view build, Stage& stage, const FetchFiles& fetch,
                          const std::optional<CancelToken>& cancel = {}) const;
  // Moves those trees of the build that are damaged (every file is hashed) to rejected/, so that the next
  // install makes them again. Returns their ids. The view stays: make_view repairs it.
  Result<std::vector<std::string>> reject_damaged(std::string_view build, Stage& stage) const;
  // EH-F18 ("build", "file") when it is in use; EH-S23 when it is not installed in the writable layer. Its
  // pin goes, too. Returns the bytes freed: none while something is being made, whose maker frees them when
  // it is done. `stayed` gets why each thing that nothing refers to any more is still there.
  Result<std::uint64_t> remove(std::string_view build, std::vector<Diagnosis>* stayed = nullptr) const;
  // Removes what nothing refers to (trees, views, stages of dead owners), unless something is just being
  // made. Returns the bytes freed.
  Result<std::uint64_t> sweep() const;
  // The same, where a removal was left to who is making something; else nothing, at the price of one look. To
  // be called without a stage, by those who had one.
  Result<std::uint64_t> sweep_if_wanted() const;
  // Removes builds by age and size, never one that is in use, pinned or being made, then sweeps. A process
  // that comes for a build which is just going finds it missing (find, lease) and installs it again.
  Result<Collected> collect(const CollectOptions& options) const;
  Usage usage() const;  // of the writable layer; reads every folder
  // Writes LAYER.json again where it is damaged, so that the layer can be written again. True when it was.
  Result<bool> repair_layout() const;
  // When the build of the writable layer was last leased, or installed; seconds since 1970, never in the
  // future. Now, where that cannot be told: it may have been.
  std::int64_t last_used(const Installed& installed) const;
  // A pinned build is never collected. EH-S23 when it is not installed in the writable layer.
  Result<void> pin(std::string_view build) const;
  // False when it was not pinned. EH-S23 when it is neither pinned nor installed there.
  Result<bool> unpin(std::string_view build) const;
  // EH-F23 ("file") when that cannot be told now.
  Result<bool> is_pinned(std::string_view build) const;

  // Where the bytes of an unfinished download lie; use only under the stage of its digest. The first is in
  // the stage itself where locks are not kept: nobody goes on with what someone else may still be writing.
  std::filesystem::path partial(std::string_view sha256, const Stage& stage) const;
  std::filesystem::path partial(std::string_view sha256) const { return root_ / "partial" / sha256; }

 private:
  std::filesystem::path root_;
  std::vector<std::filesystem::path> layers_;
  std::string program_;
};

}  // namespace enginehost::cache
