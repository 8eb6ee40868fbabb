// A bundle in parts, FILE.001 and so on, and the list of them, FILE.parts.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace enginehost::offline {

struct ListedPart {
  std::filesystem::path file;
  std::uint64_t size = 0;
  std::string sha256;  // empty: there is no list of parts
};

// Returns the parts that a list names, beside it. Does not check that they exist. Errors: EH-P47; EH-F40,
// EH-M04: it is no such list.
Result<std::vector<ListedPart>> listed_parts(const std::filesystem::path& list);

// Returns the name of the list of parts beside a bundle.
std::filesystem::path parts_list_of(const std::filesystem::path& file);

// Returns the list that lies beside a part; empty when `file` is no part or has no list.
std::filesystem::path list_of_part(const std::filesystem::path& file);

// `file`: a part, or the common beginning of the parts' names. Returns EH-F42 ("part": the list,
// "parts_found", "bundle") when parts lie there without their list. Returns nothing when it is no part, has
// its list, or is the only file of its name, which may be a whole bundle with an unusual name; `damaged` says
// that it is not.
std::optional<Diagnosis> parts_without_list(const std::filesystem::path& file, bool damaged = false);

}  // namespace enginehost::offline
