// Artifacts as a folder that registries' tools read: an OCI image layout.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/oci/artifact.hpp"

namespace enginehost::oci {

// Makes `folder` a layout, unless it is one, and gives an empty folder in it: archives that are packed there
// need not be copied. EH-P47 ("file", "problem") when the folder holds something else; EH-F15, EH-F16. One
// process at a time writes a layout.
Result<std::filesystem::path> begin_layout(const std::filesystem::path& folder);

// Adds the artifacts to a layout that was begun, and ends it: the folder for packing goes. Blobs that are
// there already with the right size are kept, and the entries of index.json under other names stay. Each
// artifact gets its tag (tag_of its build) as org.opencontainers.image.ref.name; several at once also an
// image index under `index_name`. The same artifacts in an empty folder give the same bytes. index.json is
// written last and by rename: a layout that was cut off holds what it held. EH-F15, EH-F16.
Result<void> write_layout(const std::filesystem::path& folder, const std::vector<Artifact>& artifacts,
                          const std::string& index_name);

}  // namespace enginehost::oci
