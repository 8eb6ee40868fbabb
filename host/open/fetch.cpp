#include "host/open/fetch.hpp"

#include <algorithm>

#include "host/open/install.hpp"
#include "host/open/open.hpp"

namespace enginehost::open {

Result<acquire::Acquired> fetch_best(World& world, resolve::Plan& plan, const FetchOptions& options) {
  acquire::AcquireOptions acquiring;
  acquiring.transfer = world.transfer_options();
  acquiring.download_limit = world.settings().downloads.max_artifact_bytes;
  acquiring.unpacked_limit = world.settings().downloads.max_unpacked_bytes;
  acquiring.consent = options.consent;
  std::optional<Diagnosis> first;
  for (resolve::Candidate& candidate : plan.candidates) {
    if (candidate.rank == 0 || std::ranges::count(options.passed_over, candidate.build->id) != 0) continue;
    auto acquired = install_noted(world, *candidate.build, acquiring, options.progress);
    if (acquired) {
      candidate.verdict = resolve::Verdict::chosen;
      return acquired;
    }
    candidate.turn_down(resolve::Verdict::failed,
                        acquired.error().within("while fetching " + candidate.build->id));
    if (!first) first = candidate.diagnosis();
    if (ends_the_search(*first)) break;
  }
  return fail(first ? std::move(*first) : plan.diagnosis ? *plan.diagnosis : diagnose("EH-S01"));
}

}  // namespace enginehost::open
