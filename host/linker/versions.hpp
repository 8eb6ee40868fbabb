// Comparison of needed symbol versions with those that the found libraries define.
#pragma once
#include <string>
#include <unordered_map>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

// Looks up each DT_VERNEED entry among the DT_VERDEF of the file that serves the name, as glibc
// elf/dl-version.c does (`serving`: name -> index of that object). musl checks no versions when it loads, so
// only the highest versions are recorded there. The check whether packed relocations (DT_RELR) are announced
// is also here, as in glibc.
void check_versions(const Machine& machine, const Reader& reader,
                    const std::unordered_map<std::string, int>& serving, Closure& closure);

// "GLIBC" and "2.34" for "GLIBC_2.34"; the second part is empty if the name is no dotted version of a family.
struct VersionName {
  std::string_view family;
  std::string_view version;
};
VersionName parse_version_name(std::string_view name);

}  // namespace enginehost::linker
