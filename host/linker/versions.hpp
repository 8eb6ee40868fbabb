// Symbol versions wanted against those the found libraries define.
#pragma once
#include "host/linker/linker.hpp"

namespace enginehost::linker {

// glibc elf/dl-version.c: each DT_VERNEED entry is looked up among the DT_VERDEF of the very file that serves
// the name. `serving(name)` gives the index of that object, or -1. `glibc`: a need of
// versions of a library that nothing in the closure needs is damage, of which that loader dies.
void check_versions(Closure& closure, const std::unordered_map<std::string, int>& serving, bool glibc);

// "GLIBC" and "2.34" of "GLIBC_2.34"; an empty second part when the name is no dotted version of a family.
struct VersionName {
  std::string_view family;
  std::string_view version;
};
VersionName parse_version_name(std::string_view name);

}  // namespace enginehost::linker
