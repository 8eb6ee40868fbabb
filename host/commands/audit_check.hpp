// The audit log's part of `engine-cache verify`.
#pragma once
#include <optional>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

// {"folder","files","events","last","ok","problems":[{"file","line","problem"}]}; told on stdout with
// `print_text`. A log that was changed is EH-P04 in `worst`, unless something is there already.
Json check_audit_log(const settings::Settings& settings, bool print_text, std::optional<Diagnosis>& worst);

}  // namespace enginehost::commands
