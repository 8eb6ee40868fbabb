// Names in archives, read and written as UTF-8 in the form that libarchive uses on each system, and the case
// of names.
#pragma once
#include <optional>
#include <string>

struct archive_entry;

namespace enginehost::acquire {

// Returns the name in the archive; nothing when it cannot be read.
std::optional<std::string> name_of(archive_entry* entry);
// Returns the target of a symbolic link; empty when it cannot be read.
std::string link_target_of(archive_entry* entry);

// Sets the name of an entry to write.
void set_name(archive_entry* entry, const std::string& name);
void set_link_target(archive_entry* entry, const std::string& target);

// Returns the same letter for all letters that differ only in case.
char32_t without_case(char32_t point);

}  // namespace enginehost::acquire
