// Writes artifacts into a folder that registry tools read: an OCI image layout.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tools/oci/artifact.hpp"

namespace enginehost::oci {

// Makes `folder` a layout, unless it is one, and returns an empty folder in it for packing, so that packed
// archives need not be copied. Errors: EH-P47 ("file", "problem") when the folder holds something else;
// EH-F15, EH-F16. Only one process at a time may write a layout.
Result<std::filesystem::path> begin_layout(const std::filesystem::path& folder);

// Adds the artifacts to a layout that was begun, and removes the packing folder. Keeps existing blobs of the
// right size and the entries of index.json under other names. Each artifact gets its tag (tag_of() its build)
// as org.opencontainers.image.ref.name; several at once also get an image index under `index_name`. The same
// artifacts in an empty folder give the same bytes. index.json is written last and by rename, so an
// interrupted write leaves the layout's earlier content valid. Errors: EH-F15, EH-F16.
Result<void> write_layout(const std::filesystem::path& folder, const std::vector<Artifact>& artifacts,
                          const std::string& index_name);

}  // namespace enginehost::oci
