#include "host/acquire/entry_names.hpp"

#include <archive_entry.h>

namespace enginehost::acquire {

std::optional<std::string> name_of(archive_entry* entry) {
  const char* name = ::archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = ::archive_entry_pathname(entry);
  if (name == nullptr) return {};
  return name;
}

std::string link_target_of(archive_entry* entry) {
  const char* target = ::archive_entry_symlink_utf8(entry);
  if (target == nullptr) target = ::archive_entry_symlink(entry);
  return target == nullptr ? "" : target;
}

}  // namespace enginehost::acquire
