// The steps of removing; for the store's own files only.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/lock.hpp"

namespace enginehost::cache::inside {

// The time of now, for telling how old things are; the newest time in the layer when the clock is more than a
// year ahead of that, as a clock that lost its battery may be.
std::int64_t believable_time(const std::filesystem::path& root);

// A build whose record is gone, and the locks that keep others from it until its files are.
struct Released {
  std::string digest;
  FileLock key, unused;
};
// Takes the record away. EH-F18 when it is in use or being made, EH-F01 when it is not installed.
Result<Released> release(const std::filesystem::path& root, std::string_view build, std::string_view program);

// Everything that a record of this layer refers to. Fails when a record, or their folder, cannot be read:
// then it is not known what nothing refers to.
Result<std::set<std::string>> referred(const std::filesystem::path& root);

struct Swept {
  std::uint64_t bytes = 0;
  std::vector<Diagnosis> stayed;  // why each thing that should have gone is still there
};
// Drops what nothing refers to; what cannot be removed stays, and the rest goes all the same. The caller
// holds the publishing lock alone; the view `freed` is known not to be leased.
Swept sweep_layer(const std::filesystem::path& root, std::string_view freed);
// The same with the publishing lock; nothing when someone is making something, who then sweeps.
Result<std::optional<Swept>> sweep_alone(const std::filesystem::path& root, std::string_view freed,
                                         std::string_view program);

// A damaged tree that was put aside, or a download that nobody is at work on, where that can be told: nothing
// needs it. `name`: "rejected/…", "partial/…". True when it is gone, or would be with `only_look`.
Result<bool> drop_unneeded(const std::filesystem::path& root, const std::string& name, bool only_look);

}  // namespace enginehost::cache::inside
