// Packs a tree of the store as an archive, because the store keeps files and not the archives they came in.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::oci {

struct Packed {
  std::string sha256;  // of the archive
  std::uint64_t size = 0;
};

inline constexpr int packing_level = 3;  // zstd level

// Writes the tree's files, in the order of its list, as a pax tar under zstd into the new file `archive`. The
// same tree gives the same bytes with the same libzstd (times 0, owner 0, modes 0644 and 0755, one thread, a
// fixed level); with any libzstd, it unpacks to the same tree id. The files are hashed and compared with the
// list as they are read. Errors: EH-F08 ("file"): the cache is damaged. EH-F01: a file cannot be read.
// EH-F15, EH-F16: writing. EH-P10: canceled.
Result<Packed> pack_tree(const cache::TreeList& list, const std::filesystem::path& folder,
                         const std::filesystem::path& archive, const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::oci
