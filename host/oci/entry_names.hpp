// Names in archives, as UTF-8, in the form in which libarchive keeps them on a system.
#pragma once
#include <optional>
#include <string>

struct archive_entry;

namespace enginehost::oci {

// As the archive has it; nothing when it cannot be read.
std::optional<std::string> name_of(archive_entry* entry);
// Where a symbolic link leads; empty when that cannot be read.
std::string link_target_of(archive_entry* entry);

// Of an entry that is written.
void set_name(archive_entry* entry, const std::string& name);
void set_link_target(archive_entry* entry, const std::string& target);

}  // namespace enginehost::oci
