// What a collection (Store::collect) is to do, and what it did.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::cache {

struct CollectOptions {
  // Bytes on disk. When there are more, builds go, the longest unused first, until nine tenths of it are
  // left.
  std::optional<std::uint64_t> max_bytes;
  std::optional<std::chrono::seconds> max_age;  // builds that were not used for so long go
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
  // Of all builds of this layer as if nothing were shared, and what the disk holds. Files that a file system
  // shares on its own (reflinks) count in full.
  std::uint64_t logical_before = 0, logical_after = 0, physical_before = 0, physical_after = 0;
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
