// Names that mean the same file on every system.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace enginehost::cache {

// Returns an empty text if the path means the same on Linux, Windows and macOS and shows what it is, else the
// problem. Refused are: text that is not UTF-8, characters that are not seen or change the order of others,
// combining marks (a file system that composes names would change them), a colon (on Windows a drive, or a
// stream of another file) and other characters that Windows refuses, device names (CON, NUL, COM1, with any
// extension), and a dot or space at the end of a part. "." and ".." are left to path_problem() and
// link_problem().
std::string_view name_problem(std::string_view path);

// Finds paths of one tree that are the same file if case is ignored. Keeps each part of a path once, however
// many paths share it.
class Spellings {
 public:
  // Returns an earlier path from which this one, or a folder above it, differs only in case; empty: none.
  std::string clash(std::string_view path);

 private:
  struct KnownName {
    std::string part;          // in its first spelling
    std::uint32_t number = 0;  // of this folder or file, from 1
  };
  // By the number of the parent folder (0: the tree's root) and the case-folded name.
  std::map<std::pair<std::uint32_t, std::u32string>, KnownName> known_;
};

// Returns the same letter for all letters that differ only in case. Each system implements it; on Linux and
// macOS letters beyond ASCII need the locale of NamesInUtf8.
char32_t without_case(char32_t point);

}  // namespace enginehost::cache
