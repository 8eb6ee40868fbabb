// Which names from an archive every file system spells alike.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace enginehost::acquire {

// Empty when the path means the same on Linux, Windows and macOS; else what is wrong with it: not UTF-8, a
// combining mark (a file system that composes names would spell it again), a colon (a stream of another file
// on Windows) or another character Windows refuses, a device's name (CON, NUL, COM1, with any extension), a
// dot or a space at a part's end.
std::string_view name_problem(std::string_view path);

// Finds paths that are one file where the case of letters does not count. For one archive. Every part of a
// path is kept once, whatever lies below it.
class Spellings {
 public:
  // Another path, met before, of which this one or a folder above it differs in case only; empty: none.
  std::string clash(const std::string& path);

 private:
  struct KnownName {
    std::string part;          // as it was spelt first
    std::uint32_t number = 0;  // of this folder or file, from 1
  };
  // By the number of the folder that it lies in (0: the archive's own) and its letters without case.
  std::map<std::pair<std::uint32_t, std::u32string>, KnownName> known_;
};

}  // namespace enginehost::acquire
