// Names in archives.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

struct archive_entry;

namespace enginehost::acquire {

// Names read and written as UTF-8 in the form that libarchive uses on each system, and the case of names.

// Returns the name in the archive; nothing when it cannot be read.
std::optional<std::string> name_of(archive_entry* entry);
// Returns the target of a symbolic link; empty when it cannot be read.
std::string link_target_of(archive_entry* entry);

// Returns the same letter for all letters that differ only in case.
char32_t without_case(char32_t point);

// Names that mean the same on every file system.

// Returns an empty text if the path means the same on Linux, Windows and macOS, else the problem. Refused
// are: text that is not UTF-8, combining marks (a file system that composes names would change them), a colon
// (on Windows a stream of another file) and other characters that Windows refuses, device names (CON, NUL,
// COM1, with any extension), and a dot or space at the end of a part.
std::string_view name_problem(std::string_view path);

// Finds paths in one archive that are the same file if case is ignored. Keeps each part of a path once,
// however many paths share it.
class Spellings {
 public:
  // Returns an earlier path from which this one, or a folder above it, differs only in case; empty: none.
  std::string clash(const std::string& path);

 private:
  struct KnownName {
    std::string part;          // in its first spelling
    std::uint32_t number = 0;  // of this folder or file, from 1
  };
  // By the number of the parent folder (0: the archive's root) and the case-folded name.
  std::map<std::pair<std::uint32_t, std::u32string>, KnownName> known_;
};

}  // namespace enginehost::acquire
