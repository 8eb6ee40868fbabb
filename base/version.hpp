// Dotted versions and the requirements written over them.
#pragma once
#include <compare>
#include <string>
#include <string_view>

namespace enginehost {

// Orders versions as PEP 440 does: release numbers as numbers, a missing one as 0, so that 1.9 < 1.10 and
// 2.0 == 2.0.0; 1.0.dev1 < 1.0a1 < 1.0b1 < 1.0rc1 < 1.0 < 1.0.post1. What follows "+" is a local label
// (2.0.1+cu118) and says nothing about the order. Any text has a place: one that is no such version goes by
// what its beginning is, then by its other parts, numbers as numbers.
std::strong_ordering compare_versions(std::string_view left, std::string_view right);

// A version as PEP 440 writes it, whole: "1.27.0", "1!2.0rc1", "2.0.1+cu118".
bool is_version(std::string_view text);

// 1.0a1, 1.0rc2 and 1.0.dev3 are; 1.0 and 1.0.post1 are not.
bool is_prerelease(std::string_view version);

// "cu118" of "2.0.1+cu118"; empty: none.
std::string_view local_label(std::string_view version);

// True when `version` is `prefix` or a refinement of it: has_version_prefix("2.0.1", "2.0"), and of "2.0rc1",
// too. A missing number is 0, so that "2" has the prefix "2.0".
bool has_version_prefix(std::string_view version, std::string_view prefix);

// ">=2.17", ">1", "<=3", "<3", "==1.2", "2.17" (meaning >=), or several joined by "," (all must hold).
bool satisfies(std::string_view version, std::string_view requirement);

// True when satisfies() understands the text: operators followed by something that begins with a digit.
bool is_version_requirement(std::string_view requirement);

}  // namespace enginehost
