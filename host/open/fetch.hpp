// Installs a build without opening it.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/acquire/pending.hpp"
#include "host/open/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

struct FetchOptions {
  std::function<Result<void>(const acquire::Question&)> consent;
  transfer::ProgressCallback progress;
  // Ids of builds to skip, because the machine they are fetched for cannot use them.
  std::vector<std::string> passed_over;
};

// Returns the plan's diagnosis, or the reason why builds are unknown. "Unknown engine" and "no build fits"
// are not the cause while a repository cannot be reached or is not as published. Further failures are in
// "also".
std::optional<Diagnosis> why_nothing_is_known(const manifest::Catalog& catalog, const resolve::Plan& plan);

// Returns EH-P01 for a repository that the command line or the request names and policy forbids. It is the
// answer whatever other repositories offer. A forbidden repository of a configuration file is left out, with
// a warning.
std::optional<Diagnosis> forbidden_by_name(const manifest::Catalog& catalog);

// Returns each repository and manifest that could not be read, once, as warnings for a request that succeeds
// anyway. Omits repositories that were not asked because the request is offline.
std::vector<Diagnosis> catalog_warnings(const manifest::Catalog& catalog, bool offline);

// Returns the parts of the build that an open would fetch; for a recorded machine, all of them.
acquire::Pending pending_download(OpenContext& context, const manifest::Build& build);

// A build that would have been taken, and why it was not.
struct TurnedDown {
  std::string build;
  resolve::Verdict verdict;  // failed or quarantined
  std::optional<Diagnosis> why;
};

// Returns the candidates of a tried plan that failed or that history quarantines.
std::vector<TurnedDown> turned_down(const resolve::Plan& plan);

// Returns true if a tried plan led to less than the best build of the request.
bool is_fallback(const resolve::Plan& plan);

// Installs the best build of the plan that can be fetched. If a source is down, the next candidate is tried.
// Sets the verdicts of the candidates. Fails with the failure of the first candidate, or with the reason why
// there is none. Cancellation is always reported as EH-P10, whatever failed before.
Result<acquire::Acquired> fetch_best(OpenContext& context, resolve::Plan& plan, const FetchOptions& options);

}  // namespace enginehost::open
