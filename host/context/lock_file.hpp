// Lock files: which build of an engine is opened on each platform, by the digests of its archives.
//
// Thread safety: plain values; the functions may be called from any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::open {

struct LockedComponent {
  struct Archive {
    std::string sha256;
    std::optional<std::uint64_t> size;
  };
  std::string name;
  std::vector<Archive> archives;  // alternatives; empty: compiled on each machine
  // Without archives, because bytes that are compiled on each machine differ.
  std::string version, cxx11_abi = {};
};

struct LockedBuild {
  std::string platform, engine, build, version, flavor;  // "linux-x86_64"; `build`: the id of its manifest
  std::vector<LockedComponent> components;
};

struct LockFile {
  Json document = Json::object();
  std::vector<LockedBuild> builds;
};

// Errors: EH-P47: the file cannot be read. EH-S43 ("found", "supported" or "member"): it is of a newer
// EngineHost. EH-S44 ("file", "line", "column", "member", "problem", "nearest"): it has a mistake.
Result<LockFile> read_lock(const std::filesystem::path& file);

// Replaces the entries of the platforms and engines of `builds` and keeps everything else, members that this
// version does not know too. Returns the entries that are gone.
std::vector<LockedBuild> replace_entries(LockFile& lock, const std::vector<LockedBuild>& builds);

}  // namespace enginehost::open
