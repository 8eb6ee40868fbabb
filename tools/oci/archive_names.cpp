#include "tools/oci/archive_names.hpp"

#include <archive_entry.h>
#ifdef _WIN32
#include "base/windows/wide.hpp"
#endif

namespace enginehost::oci {

#ifdef _WIN32

// libarchive 3.6.2 keeps names in UTF-16 on Windows and converts all other forms through the code page.
void set_name(archive_entry* entry, const std::string& name) {
  ::archive_entry_copy_pathname_w(entry, windows::wide(name).c_str());
}

void set_link_target(archive_entry* entry, const std::string& target) {
  ::archive_entry_copy_symlink_w(entry, windows::wide(target).c_str());
}

#else

void set_name(archive_entry* entry, const std::string& name) {
  ::archive_entry_set_pathname_utf8(entry, name.c_str());
}

void set_link_target(archive_entry* entry, const std::string& target) {
  ::archive_entry_set_symlink_utf8(entry, target.c_str());
}

#endif

}  // namespace enginehost::oci
