// Which names from an archive every file system spells alike.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::acquire {

// Empty when the path means the same on Linux, Windows and macOS; else what is wrong with it: not UTF-8, a
// combining mark (a file system that composes names would spell it anew), a colon (a stream of another file
// on Windows) or another character Windows refuses, a device's name (CON, NUL, COM1, with any extension), a
// dot or a space at a part's end.
std::string_view name_problem(std::string_view path);

// Finds paths that are one file where the case of letters does not count. For one archive.
class Spellings {
 public:
  // Another path, met before, of which this one or a folder above it differs in case only; empty: none.
  std::string clash(const std::string& path);

 private:
  std::map<std::u32string, std::string> known_;
};

}  // namespace enginehost::acquire
