// Dotted versions and the requirements written over them.
#pragma once
#include <compare>
#include <string>
#include <string_view>

namespace enginehost {

// Compares dotted versions part by part: numbers as numbers, other text as text, a missing part as 0, so that
// 1.9 < 1.10 and 2.0 == 2.0.0. A part that begins with a number sorts before the same number followed by text only
// when the text is a pre-release mark ("1.0rc1" < "1.0").
std::strong_ordering compare_versions(std::string_view left, std::string_view right);

// True when `version` is `prefix` or a refinement of it: has_version_prefix("2.0.1", "2.0").
bool has_version_prefix(std::string_view version, std::string_view prefix);

// ">=2.17", ">1", "<=3", "<3", "==1.2", "2.17" (meaning >=), or several joined by "," (all must hold).
bool satisfies(std::string_view version, std::string_view requirement);

// True when satisfies() understands the text: operators followed by something that begins with a digit.
bool is_version_requirement(std::string_view requirement);

}  // namespace enginehost
