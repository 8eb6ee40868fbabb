// Where things lie in a layer; for the store's own files only.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "cache/store.hpp"

namespace enginehost::cache::inside {

namespace fs = std::filesystem;

// A file name for any text: harmless characters stay, others become %XX, long ones a digest.
std::string file_name_for(std::string_view text);

inline fs::path ref_file(const fs::path& root, std::string_view build) {
  return root / "refs" / (file_name_for(build) + ".ref");
}
inline fs::path lock_file(const fs::path& root, std::string_view key) {
  return root / "locks" / (file_name_for(key) + ".lk");
}
inline fs::path lease_file(const fs::path& root, std::string_view digest) {
  return root / "leases" / (std::string(digest) + ".lk");
}
// Held shared by everyone who makes something, exclusively by who sweeps.
inline fs::path publishing_lock(const fs::path& root) { return root / "locks" / ".publishing.lk"; }

// There while something was left to whoever is just making something: see Store::sweep_if_wanted.
inline fs::path sweep_wanted(const fs::path& root) { return root / "locks" / ".sweep-wanted"; }

// The list of a tree in this layer, checked against its id. EH-F01, EH-F08.
Result<TreeList> load_list(const fs::path& root, std::string_view tree_id);

// What is wrong with one file or link under `folder`; nothing when it is as listed.
std::optional<Problem> problem_of(const fs::path& folder, const TreeEntry& entry, bool deep);

// Moves a file or folder out of sight, then removes it; returns the bytes that held the last name of their
// file.
Result<std::uint64_t> discard(const fs::path& root, const fs::path& what);

Diagnosis disk_failure(int error_number, const fs::path& file, const fs::path& root);

}  // namespace enginehost::cache::inside
