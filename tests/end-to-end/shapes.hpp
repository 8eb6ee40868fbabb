// The members of a document.
#pragma once
#include <string>
#include <vector>

#include "base/json.hpp"

namespace enginehost::test {

// "a.b" for every member that is missing, along paths like "outcome.timings_ms"; "[]" is the first element of
// a list.
std::vector<std::string> missing(const Json& document, const std::vector<std::string>& paths);

// A value with its source, absent with its source, or unknown and why.
bool is_fact(const Json& value);

// Expects that every member of the platform, and of its "cuda", is a fact.
void expect_facts(const Json& platform);

// The paths of all members in order, one in each line; those of all elements of a list together. A fact
// counts as one member, whatever its value.
std::string members_of(const Json& document);

}  // namespace enginehost::test
