// What a collection (Store::collect) is to do, and what it did.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::cache {

struct CollectOptions {
  // Bytes on disk. When there are more, damaged trees that were put aside and downloads that nobody goes on
  // with go; if that is not enough, builds do, the longest unused first, until nine tenths of it are left. No
  // build goes when all that may go is not enough: it would be lost for nothing. With 0 all go that may.
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::chrono::seconds> max_age;  // builds that were not used for so long go
  bool orphaned = false;                        // trees that lost their records go, too
  bool dry_run = false;                         // tells what would go
};

struct Collected {
  struct Build {
    std::string build;
    std::uint64_t size = 0;      // of all its files
    std::int64_t last_used = 0;  // seconds since 1970
    std::string
        why;  // "not used for …", "to stay below …"; of one that stays: "in use", "pinned", "being made"
  };
  std::vector<Build> removed;  // with dry_run: would be
  std::vector<Build> kept;     // those that would have gone, and why they stay
  // Trees that no record names since the folder of records was lost. They stay unless asked for: their builds
  // may be fetched again without a download.
  struct Tree {
    std::string tree;
    std::uint64_t size = 0;  // on disk
  };
  std::vector<Tree> orphaned;
  // Of all builds of this layer as if nothing were shared, and what the disk holds. Files that a file system
  // shares on its own (reflinks) count in full.
  std::uint64_t logical_before = 0, logical_after = 0, physical_before = 0, physical_after = 0;
  // More than `max_bytes` is left, and nothing more may go.
  bool bound_missed = false;
  // Why each thing that should have gone is still there; a record among them that cannot be read keeps all
  // builds and their files.
  std::vector<Diagnosis> stayed;
  // Something is being made: what nothing refers to any more is freed by its maker.
  bool left_to_maker = false;
  // The clock is more than a year ahead of everything in the cache and is not believed: nothing went for its
  // age.
  bool clock_in_doubt = false;
  // The layer's locks are not kept: files go two weeks after their last use.
  bool waits_for_rest = false;
};

// How many bytes lie in a layer.
struct Usage {
  std::uint64_t logical = 0, physical = 0;
};

}  // namespace enginehost::cache
