// A plan as text for people and as JSON for scripts, with the same facts.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "base/json.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

// Returns the code and the sentence of a diagnosis on one line: explain::one_line, which this module may not
// include.
using OneLine = std::function<std::string(const Diagnosis&)>;

// Returns a further line for a candidate that may be tried; may be null.
using NoteOf = std::function<std::string(const Candidate&)>;

// How many candidates a report lists. Repositories may offer hundreds of thousands; the published ones offer
// 46 of an engine at most.
constexpr std::size_t most_listed = 500;

// Returns a table of the first candidates, each with its verdict, the reason and every check, and the number
// of those that are left out. Long texts are cut.
std::string describe_plan(const Plan& plan, const OneLine& one_line, const NoteOf& note = {});

// Returns a table of the first candidates that may be tried, at most three. The others are only counted.
std::string describe_choice(const Plan& plan, const OneLine& one_line, const NoteOf& note);

// Returns one element of the contract's candidates[], without its diagnosis. The caller adds the diagnosis,
// because title, cause and remedy come from host/explain.
Json to_json(const Candidate& candidate);
Json to_json(const Check& check);
Json to_json(const Request& request);

// Returns the check that explains a rejection: the first "no" that is not overridden. Hardware that the
// machine lacks comes before all others, and the driver before libraries, because all builds for that
// hardware share this reason, and installing a library of CUDA would not help. Else the first "unknown", and
// of those one that preflight does not check. Else nullptr. Points into the candidate.
const Check* decisive_check(const Candidate& candidate);

// Returns true if the check refuses the build, and only other hardware would help.
bool lacks_hardware(const Check& check);

// Returns "needs glibc >= 2.28, found 2.17".
std::string needs_and_found(const Check& check);

}  // namespace enginehost::resolve
