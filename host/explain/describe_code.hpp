// What a failure code means, for people who look it up: `engine-info --code` and docs/failures.md.
#pragma once
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::explain {

// "l01" and "eh-l01" as the code is written, "EH-L01"; what is no code gets capitals and "EH-" all the same.
std::string normalised_code(std::string_view code);

// A template as it reads without evidence: "{library...} is needed" is "LIBRARY is needed", "{?x}" is nothing
// and
// "{status=LOST}again" is "(STATUS is LOST) again".
std::string readable(std::string_view text);

// "quarantined", "tried again when what it lacks has changed", …: what is done with a build that failed so.
std::string_view consequence(history::Category category);

// "6"; of EH-E01 also what each status of a plugin ends with, once its engine is open.
std::string exit_status_text(const Entry& entry);

// Code, title and what is known, a line each. No trailing newline.
std::string describe_code(const Entry& entry);
// {"code","title","meaning","detected_before","detected_after","causes","remedies","exit_status","consequence",
// "proven"}; of EH-E01 also "exit_statuses", an object of what exit_status_text() tells
Json code_document(const Entry& entry);

}  // namespace enginehost::explain
