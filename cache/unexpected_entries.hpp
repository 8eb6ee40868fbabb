// What stands where one of a layer's own folders, or its note, belongs; for the store's own files only.
#pragma once
#include <filesystem>
#include <optional>

#include "base/result.hpp"

namespace enginehost::cache::inside {

// EH-F23 ("folder", "in_the_way", "problem") when something else lies in the place of a folder: a file, a
// pipe, a link that leads to no folder. Nothing when it is a folder, a link to one (somebody keeps it on
// another disk), or not there.
std::optional<Diagnosis> unexpected_entry(const std::filesystem::path& place);

// The same ("… not a file") for the layer's note of trees without records (unrecorded.hpp): a folder, a pipe,
// a link that leads to one or nowhere.
std::optional<Diagnosis> unexpected_note(const std::filesystem::path& note);

// Moves it aside as it is, under a name beside it, for good: it is a person's, and no collection looks there.
// Where that is, or nothing when it was in order by then.
Result<std::optional<std::filesystem::path>> move_unexpected_entry_aside(const std::filesystem::path& root,
                                                                         const std::filesystem::path& place);

}  // namespace enginehost::cache::inside
