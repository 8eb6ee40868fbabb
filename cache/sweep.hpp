// The steps of removing builds and unreferenced files. Internal to the store.
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

// Returns the time for computing ages: now, or the newest time in the layer if the clock is more than a year
// ahead of it (a clock that lost its battery, for example).
std::int64_t believable_time(const std::filesystem::path& root);

// A build whose record was removed, and the locks that keep others from it until its files are removed.
struct Released {
  std::string digest;
  FileLock key, unused;
};
// Removes the record. Errors: EH-F18 if the build is in use or being made, EH-F01 if it is not installed.
Result<Released> release(const std::filesystem::path& root, std::string_view build, std::string_view program);

// Returns everything that a record of this layer refers to. Fails if a record, or their folder, cannot be
// read, because the set would be incomplete.
Result<std::set<std::string>> referred(const std::filesystem::path& root);

struct Swept {
  std::uint64_t bytes = 0;
  std::vector<Diagnosis> stayed;  // the reason for each thing that could not be removed
};
// Removes unreferenced files; one that cannot be removed does not stop the rest. The caller holds the
// publishing lock exclusively. The view `freed` is known not to be leased.
Swept sweep_layer(const std::filesystem::path& root, std::string_view freed);
// Takes the publishing lock and does the same. Returns nothing if another process is making something; that
// process sweeps later.
Result<std::optional<Swept>> sweep_alone(const std::filesystem::path& root, std::string_view freed,
                                         std::string_view program);

// Removes a quarantined tree, or a download that no process is known to work on. `name`: "rejected/…",
// "partial/…". Returns true if it is gone, or would be with `only_look`.
Result<bool> drop_unneeded(const std::filesystem::path& root, const std::string& name, bool only_look);

}  // namespace enginehost::cache::inside
