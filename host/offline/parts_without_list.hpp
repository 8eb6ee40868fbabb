// Detects that a part was named instead of its bundle, or that the list of the parts is missing.
#pragma once
#include <filesystem>
#include <optional>

#include "base/diagnosis.hpp"

namespace enginehost::offline {

// Returns the list that lies beside a part; empty when `file` is no part or has no list.
std::filesystem::path list_of_part(const std::filesystem::path& file);

// `file`: a part, or the common beginning of the parts' names. Returns EH-F42 ("part": the list,
// "parts_found", "bundle") when parts lie there without their list. Returns nothing when it is no part, has
// its list, or is the only file of its name, which may be a whole bundle with an unusual name; `damaged` says
// that it is not.
std::optional<Diagnosis> parts_without_list(const std::filesystem::path& file, bool damaged = false);

}  // namespace enginehost::offline
