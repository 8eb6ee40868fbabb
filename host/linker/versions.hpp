// Symbol versions wanted against those the found libraries define.
#pragma once
#include <string>
#include <unordered_map>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

// glibc elf/dl-version.c: each DT_VERNEED entry is looked up among the DT_VERDEF of the very file that serves
// the name (`serving`: name -> index of that object). musl looks at none of this when it loads, so that there
// only the highest versions are noted. What the versions say of packed relocations (DT_RELR) belongs here:
// glibc asks there whether they are announced.
void check_versions(const Machine& machine, const Reader& reader,
                    const std::unordered_map<std::string, int>& serving, Closure& closure);

// "GLIBC" and "2.34" of "GLIBC_2.34"; an empty second part when the name is no dotted version of a family.
struct VersionName {
  std::string_view family;
  std::string_view version;
};
VersionName parse_version_name(std::string_view name);

}  // namespace enginehost::linker
