// A plan as text for people and as JSON for scripts, with the same facts.
#pragma once
#include <functional>
#include <string>

#include "base/json.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

// Returns a table of the candidates with their verdict and the reason; with `explain`, every check of every
// candidate. `note`, if set, returns a further line for a candidate that is tried.
std::string describe_plan(const Plan& plan, bool explain,
                          const std::function<std::string(const Candidate&)>& note = {});

// Returns one element of the contract's candidates[], without its diagnosis. The caller adds the diagnosis,
// because title, cause and remedy come from host/explain.
Json to_json(const Candidate& candidate);
Json to_json(const Check& check);
Json to_json(const Request& request);

// Returns the check that decided a rejection: the first "no" that is not overridden. Else the first
// "unknown", and of those one that preflight does not check. Else nullptr. Points into the candidate.
const Check* decisive_check(const Candidate& candidate);

// Returns "needs glibc >= 2.28, found 2.17".
std::string needs_and_found(const Check& check);

}  // namespace enginehost::resolve
