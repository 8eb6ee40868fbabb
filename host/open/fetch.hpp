// Installing without opening.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/open/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

struct FetchOptions {
  std::function<Result<void>(const acquire::Question&)> consent;
  transfer::ProgressCallback progress;
  // Build ids that somebody else cannot use: they are passed over.
  std::vector<std::string> passed_over;
};

// The plan's diagnosis, or what kept the builds from being known: neither "unknown engine" nor "no build
// fits" is the cause while a repository could not be reached or is not what was published. The others are
// told with it ("also").
std::optional<Diagnosis> why_nothing_is_known(const manifest::Catalog& catalog, const resolve::Plan& plan);

// A repository that the command line or the request names and policy forbids (EH-P01): whatever the others
// offer, this is the answer. What a configuration names is left out, with a warning.
std::optional<Diagnosis> forbidden_by_name(const manifest::Catalog& catalog);

// The repositories and manifests that could not be read, for who gets something all the same: each once. That
// nobody was asked where no network was wanted is no news.
std::vector<Diagnosis> catalog_warnings(const manifest::Catalog& catalog, bool offline);

// A build that would have been taken, and why it was not.
struct TurnedDown {
  std::string build;
  resolve::Verdict verdict;  // failed, or quarantined
  std::optional<Diagnosis> why;
};

// Of a plan that was walked: what failed, and what history quarantines.
std::vector<TurnedDown> turned_down(const resolve::Plan& plan);

// Whether a plan that was walked led to less than the best that was asked for.
bool is_fallback(const resolve::Plan& plan);

// Installs the best build of the plan that can be had; a source that is down makes room for the next one. The
// candidates' verdicts say what became of them. Fails with the first candidate's failure, or with why
// there is none; interrupted is interrupted (EH-P10), whatever failed before.
Result<acquire::Acquired> fetch_best(OpenContext& context, resolve::Plan& plan, const FetchOptions& options);

}  // namespace enginehost::open
