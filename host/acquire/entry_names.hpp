// Names in archives, as UTF-8.
#pragma once
#include <optional>
#include <string>

struct archive_entry;

namespace enginehost::acquire {

// As the archive has it; nothing when it cannot be read.
std::optional<std::string> name_of(archive_entry* entry);
// Where a symbolic link leads; empty when that cannot be read.
std::string link_target_of(archive_entry* entry);

}  // namespace enginehost::acquire
