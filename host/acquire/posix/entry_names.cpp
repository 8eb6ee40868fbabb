#include "host/acquire/portable_names.hpp"

#include <archive_entry.h>

#include <cwctype>

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

// Upper case first, because some letters have several lower-case forms.
char32_t without_case(char32_t point) {
  return static_cast<char32_t>(std::towlower(std::towupper(static_cast<wint_t>(point))));
}

}  // namespace enginehost::acquire
