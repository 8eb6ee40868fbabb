// Files in the place of a layer's own folders, or of its note. Internal to the store.
#pragma once
#include <filesystem>
#include <optional>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// Returns EH-F23 ("folder", "in_the_way", "problem") if something else is in the place of a folder: a file, a
// pipe, a link to no folder. Returns nothing for a folder, a link to a folder (which may be on another disk),
// or a missing one.
std::optional<Diagnosis> unexpected_entry(const std::filesystem::path& place);

// Returns the same ("… not a file") for the layer's note of orphaned trees (orphaned_trees.hpp): a folder, a
// pipe, a link to one of them or a dangling link.
std::optional<Diagnosis> unexpected_note(const std::filesystem::path& note);

// Renames it beside its place, for good, because it belongs to a person; no collection touches it. Returns
// the new path, or nothing if the place was in order by then.
Result<std::optional<std::filesystem::path>> move_unexpected_entry_aside(const std::filesystem::path& root,
                                                                         const std::filesystem::path& place);

}  // namespace enginehost::cache::inside
