// Single files of a zip archive, by asking for the parts of the archive that hold them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "cache/tree_list.hpp"
#include "host/acquire/acquire.hpp"

namespace enginehost::acquire {

struct PartSource {
  std::string where;        // a URL or an absolute path
  std::string certificate;  // for this source; empty: the options'
  std::optional<std::uint64_t> size;
};

// Reads the archive's directory and the entries that become `wanted`, and unpacks those below `into`; answers
// with the source and how many bytes came from it. Nothing here is believed: whoever uses the files compares
// their digests. EH-N02 ("problem") when the server sends whole files only, EH-F21 when the entries cannot be
// found or decoded one by one, disk failures as cache::TreeWriter.
Result<std::string> unpack_parts(const PartSource& source, const manifest::Artifact& artifact,
                                 const std::vector<cache::TreeEntry>& wanted,
                                 const std::filesystem::path& into, const AcquireOptions& options,
                                 const std::optional<CancelToken>& cancel);

}  // namespace enginehost::acquire
