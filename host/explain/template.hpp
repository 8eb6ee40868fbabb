// The little language of the catalog's sentences; see Entry in explain.hpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnosis.hpp"

namespace enginehost::explain {

// The sentence, or nothing when a key it speaks of is not in the evidence.
std::optional<std::string> fill(std::string_view text, const Diagnosis& diagnosis);

// The last part of a path of either kind of system; all of one that ends with a slash.
std::string file_name(const std::string& path);

}  // namespace enginehost::explain
