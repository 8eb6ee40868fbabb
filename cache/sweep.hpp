// The steps of removing; for the store's own files only.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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

// Drops what nothing refers to. The caller holds the publishing lock alone; the view `freed` is known not to
// be leased.
Result<std::uint64_t> sweep_layer(const std::filesystem::path& root, std::string_view freed);
// The same with the publishing lock; nothing when someone is making something, who then sweeps.
Result<std::optional<std::uint64_t>> sweep_alone(const std::filesystem::path& root, std::string_view freed,
                                                 std::string_view program);

}  // namespace enginehost::cache::inside
