// Dotted versions and version requirements.
#pragma once
#include <compare>
#include <string>
#include <string_view>

namespace enginehost {

// Orders versions as PEP 440 does. Release numbers compare as numbers and a missing one is 0, so that 1.9
// < 1.10 and 2.0 == 2.0.0; 1.0.dev1 < 1.0a1 < 1.0b1 < 1.0rc1 < 1.0 < 1.0.post1. A local label after "+"
// (2.0.1+cu118) does not affect the order. Any other text is also ordered: by its beginning, then by its
// remaining parts, numbers as numbers.
std::strong_ordering compare_versions(std::string_view left, std::string_view right);

// Returns true for a complete PEP 440 version: "1.27.0", "1!2.0rc1", "2.0.1+cu118".
bool is_version(std::string_view text);

// Returns true for 1.0a1, 1.0rc2 and 1.0.dev3; false for 1.0 and 1.0.post1.
bool is_prerelease(std::string_view version);

// Returns "cu118" for "2.0.1+cu118"; empty if there is no label.
std::string_view local_label(std::string_view version);

// Returns true if `version` is `prefix` or refines it: "2.0.1" and "2.0rc1" have the prefix "2.0". A missing
// number is 0, so that "2" has the prefix "2.0".
bool has_version_prefix(std::string_view version, std::string_view prefix);

// Returns "2.8" for 2.8.0 and 2.8rc1; the whole text for one number, or for one that is no version.
std::string minor_release_of(std::string_view version);

// Checks ">=2.17", ">1", "<=3", "<3", "==1.2", "2.17" (meaning >=), or several joined by "," (all must hold).
bool satisfies(std::string_view version, std::string_view requirement);

}  // namespace enginehost
