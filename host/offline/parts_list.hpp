// The list of a bundle's parts, FILE.parts.
#pragma once
#include <cstdint>
#include <filesystem>
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

// Returns the files beside FILE that are its parts: FILE.001 and so on, where FILE.parts names them with
// their present size. Other files with such names are not touched.
std::vector<std::filesystem::path> parts_beside(const std::filesystem::path& file);

}  // namespace enginehost::offline
