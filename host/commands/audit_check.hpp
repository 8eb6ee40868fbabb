// The audit log's part of `engine-cache verify`.
#pragma once
#include <optional>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

// Returns {"folder","files","events","last","ok","problems":[{"file","line","problem"}]}; `print_text` also
// prints it on stdout. A changed log is EH-P04 in `worst`, unless that is set.
Json check_audit_log(const settings::Settings& settings, bool print_text, std::optional<Diagnosis>& worst);

}  // namespace enginehost::commands
