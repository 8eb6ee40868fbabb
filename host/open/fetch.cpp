#include "host/open/open.hpp"

#include <algorithm>

#include "host/attempt/install.hpp"
#include "host/catalog/repositories.hpp"
#include "host/catalog/unreached.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::open {

acquire::Pending pending_download(OpenContext& context, const manifest::Build& build) {
  return acquire::pending_download(build, context.is_recorded() ? nullptr : &context.store());
}

std::vector<TurnedDown> turned_down(const resolve::Plan& plan) {
  std::vector<TurnedDown> found;
  for (const resolve::Candidate& candidate : plan.candidates)
    if (candidate.verdict == resolve::Verdict::failed || candidate.verdict == resolve::Verdict::quarantined ||
        candidate.verdict == resolve::Verdict::disabled)
      found.push_back({candidate.build->id, candidate.verdict, candidate.diagnosis()});
  return found;
}

bool is_fallback(const resolve::Plan& plan) {
  return plan.fallback || std::ranges::any_of(plan.candidates, [](const resolve::Candidate& candidate) {
           return candidate.verdict == resolve::Verdict::failed;
         });
}

Result<acquire::Acquired> fetch_best(OpenContext& context, resolve::Plan& plan, const FetchOptions& options) {
  if (auto forbidden = catalog::forbidden_by_name(context.catalog())) return fail(std::move(*forbidden));
  acquire::AcquireOptions acquiring;
  acquiring.transfer = context.transfer_options();
  acquiring.download_limit = context.settings().downloads.max_artifact_bytes;
  acquiring.unpacked_limit = context.settings().downloads.max_unpacked_bytes;
  acquiring.consent = options.consent;
  std::optional<Diagnosis> reason;
  catalog::SilentServers silent;
  for (resolve::Candidate& candidate : plan.candidates) {
    if (candidate.rank == 0 || std::ranges::count(options.passed_over, candidate.build->id) != 0) continue;
    if (auto failure = silent.find(*candidate.build, context.store())) {
      candidate.turn_down(resolve::Verdict::failed, std::move(*failure));
      continue;
    }
    auto acquired = install_noted(context, *candidate.build, acquiring, options.progress);
    if (acquired) {
      candidate.verdict = resolve::Verdict::chosen;
      // A fetched build must not hide that a repository was refused.
      for (Diagnosis& failure :
           catalog::catalog_warnings(context.catalog(), plan.request.offline || context.settings().offline))
        acquired->warnings.push_back(std::move(failure));
      return acquired;
    }
    Diagnosis failure = std::move(acquired.error().within("while fetching " + candidate.build->id));
    if (catalog::is_unreached(failure)) silent.note(std::string(failure.value(Key::url)), failure);
    const bool ends = ends_the_search(failure) || fetches_no_more(failure);
    keep_the_reason(reason, failure);
    candidate.turn_down(resolve::Verdict::failed, std::move(failure));
    if (ends) break;
  }
  if (!reason) reason = catalog::why_nothing_is_known(context.catalog(), plan);
  return fail(reason ? std::move(*reason) : diagnose(Code::no_build_fits));
}

}  // namespace enginehost::open
