// Which build an engine had before its last update, and whether somebody went back to it.
//
//   <state>/updates/<engine>.json
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::history {

struct UsedBuild {
  std::string build, version, flavor;  // `build`: its name on this machine
  bool operator==(const UsedBuild&) const = default;
};

struct LastUpdate {
  std::string engine;
  UsedBuild now, before;  // after a rollback, `before` is the newer one
  bool held = false;      // after a rollback: `now` goes before newer builds
  std::int64_t at = 0;    // seconds since 1970
};

std::filesystem::path updates_folder(const std::filesystem::path& state_folder);

// Returns nothing if there is no record, or if it cannot be read: an engine is then not held. Any thread.
std::optional<LastUpdate> read_last_update(const std::filesystem::path& state_folder,
                                           std::string_view engine);

// Replaces the record. Errors: those of write_file().
Result<void> write_last_update(const std::filesystem::path& state_folder, const LastUpdate& update);

}  // namespace enginehost::history
