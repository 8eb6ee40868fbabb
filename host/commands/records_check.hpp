// The records' part of `engine-cache verify`: quarantine, consents and the audit log.
#pragma once
#include <optional>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

// Returns {"ok","unreadable":[texts],"set_aside":[{"file","to"}]}. Another object in the place of a file of
// records loses every later record: it becomes `worst`, or is moved aside with `repair`. An unreadable record
// of a build is reported, because a disabled build is used again without it.
Json check_records(const settings::Settings& settings, bool repair, bool print_text,
                   std::optional<Diagnosis>& worst);

}  // namespace enginehost::commands
