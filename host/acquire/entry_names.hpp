// Names in archives, read as UTF-8 in the form that libarchive uses on each system.
#pragma once
#include <optional>
#include <string>

struct archive_entry;

namespace enginehost::acquire {

// Returns the name in the archive; nothing when it cannot be read.
std::optional<std::string> name_of(archive_entry* entry);
// Returns the target of a symbolic link; empty when it cannot be read.
std::string link_target_of(archive_entry* entry);

}  // namespace enginehost::acquire
