// What `engine-cache verify` finds of the records beside the builds: what is quarantined, consents, the log.
#pragma once
#include <optional>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

// {"ok","unreadable":[texts],"set_aside":[{"file","to"}]}. Something of another kind that stands in the place
// of a file of records swallows or stops every later one: it is the `worst` found, or with `repair` moved
// aside. A record of a build that cannot be read is told, since a disabled build is used again without it.
Json check_records(const settings::Settings& settings, bool repair, bool print_text,
                   std::optional<Diagnosis>& worst);

}  // namespace enginehost::commands
