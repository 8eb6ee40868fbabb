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
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::open {

struct FetchOptions {
  std::function<Result<void>(const acquire::Question&)> consent;
  transfer::ProgressCallback progress;
  // Ids of builds to skip, because the machine they are fetched for cannot use them.
  std::vector<std::string> passed_over;
};

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
