#include "host/acquire/portable_names.hpp"

#include <archive_entry.h>

#include <cstdint>

#include "base/windows/system.hpp"
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

// Folds single UTF-16 units, as Windows file systems do; letters outside them keep their case.
char32_t without_case(char32_t point) {
  if (point > 0xffff) return point;
  const auto as_argument = [](char32_t unit) {
    return reinterpret_cast<LPWSTR>(static_cast<std::uintptr_t>(unit));
  };
  const auto upper =
      static_cast<char32_t>(reinterpret_cast<std::uintptr_t>(::CharUpperW(as_argument(point))));
  return static_cast<char32_t>(reinterpret_cast<std::uintptr_t>(::CharLowerW(as_argument(upper))));
}

}  // namespace enginehost::acquire
