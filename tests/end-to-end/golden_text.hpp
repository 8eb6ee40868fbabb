// Placeholders for what differs between runs and machines in the output of a command.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/end-to-end/golden_place.hpp"

namespace enginehost::test {

// Returns the file of a screen: the command line, its exit status, and both streams. `document` says whether
// the output is a JSON document. Throws if it is not the document that Json::dump() writes.
std::string golden_text(const Place& place, const std::string& line, const Ended& ended, bool document);

}  // namespace enginehost::test
