// The description of a failure code for `engine-info --code` and docs/failures.md.
#pragma once
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::explain {

// Returns "EH-L01" for "l01" and "eh-l01". Any other text also gets capitals and "EH-".
std::string normalised_code(std::string_view code);

// Returns a template as text without evidence: "{library...} is needed" becomes "LIBRARY is needed", "{?x}"
// becomes nothing, and "{status=LOST}again" becomes "(STATUS is LOST) again".
std::string readable(std::string_view text);

// Returns what EngineHost does with a build that failed with this category: "not recorded; tried again".
std::string_view consequence(history::Category category);

// Returns "6"; for EH-E01 also the exit status for each status of a plugin whose engine is open.
std::string exit_status_text(const Entry& entry);

// Returns code and title, then one line for each fact. No trailing newline.
std::string describe_code(const Entry& entry);
// Returns
// {"code","title","meaning","detected_before","detected_after","causes","remedies","exit_status","consequence",
// "proven"}; for EH-E01 also "exit_statuses", an object with the statuses of exit_status_text().
Json code_document(const Entry& entry);

}  // namespace enginehost::explain
