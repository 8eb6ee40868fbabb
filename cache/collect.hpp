// Options and result of a collection (Store::collect).
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"
#include "cache/lock.hpp"

namespace enginehost::cache {

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

}  // namespace enginehost::cache
