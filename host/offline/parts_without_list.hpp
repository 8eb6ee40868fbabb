// Parts of a bundle that were named instead of it, and parts beside which the list of them is missing.
#pragma once
#include <filesystem>
#include <optional>

#include "base/diagnosis.hpp"

namespace enginehost::offline {

// The list that lies beside a part; empty for what is none, or has none.
std::filesystem::path list_of_part(const std::filesystem::path& file);

// `file`: what was named, a part or the name that the parts' names begin with. EH-F42 ("part": the list,
// "parts_found", "bundle") where parts lie there; nothing where it is no part, has its list, or is the one
// file of its name: that may be a whole bundle of an odd name, unless `damaged` says that it is none.
std::optional<Diagnosis> parts_without_list(const std::filesystem::path& file, bool damaged = false);

}  // namespace enginehost::offline
