// Names of entries in archives that are written.
#pragma once
#include <string>

struct archive_entry;

namespace enginehost::oci {

// Sets the UTF-8 name of an entry, or the target of a link, in the form that libarchive uses on each system.
void set_name(archive_entry* entry, const std::string& name);
void set_link_target(archive_entry* entry, const std::string& target);

}  // namespace enginehost::oci
