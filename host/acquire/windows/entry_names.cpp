#include "host/acquire/entry_names.hpp"

#include <archive_entry.h>

#include "base/windows/wide.hpp"

// libarchive 3.6.2 keeps names in UTF-16 on Windows and converts all other forms through the code page.
namespace enginehost::acquire {

std::optional<std::string> name_of(archive_entry* entry) {
  if (const wchar_t* name = ::archive_entry_pathname_w(entry)) return windows::utf8(name);
  const char* name = ::archive_entry_pathname_utf8(entry);
  if (name == nullptr) return {};
  return name;
}

std::string link_target_of(archive_entry* entry) {
  if (const wchar_t* target = ::archive_entry_symlink_w(entry)) return windows::utf8(target);
  const char* target = ::archive_entry_symlink_utf8(entry);
  return target == nullptr ? "" : target;
}

}  // namespace enginehost::acquire
