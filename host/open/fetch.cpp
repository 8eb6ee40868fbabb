#include "host/open/fetch.hpp"

#include <algorithm>
#include <set>

#include "host/explain/explain.hpp"
#include "host/open/install.hpp"
#include "host/open/open.hpp"

namespace enginehost::open {

std::optional<Diagnosis> why_nothing_is_known(const manifest::Catalogue& catalogue,
                                              const resolve::Plan& plan) {
  if (!plan.candidates.empty() || catalogue.failures.empty() || !plan.diagnosis) return plan.diagnosis;
  const bool none_readable = catalogue.builds.empty();
  Diagnosis diagnosis = none_readable ? catalogue.failures.front() : *plan.diagnosis;
  for (std::size_t i = none_readable ? 1 : 0; i < catalogue.failures.size(); ++i)
    diagnosis.with("also", explain::one_line(catalogue.failures[i]));
  if (none_readable) diagnosis.within("while looking for builds of " + plan.request.engine);
  return diagnosis;
}

std::optional<Diagnosis> forbidden_by_name(const manifest::Catalogue& catalogue) {
  for (const Diagnosis& failure : catalogue.failures)
    if (failure.code == "EH-P01" && failure.value("flag") == "--repository") return failure;
  return std::nullopt;
}

std::vector<Diagnosis> told_of(const manifest::Catalogue& catalogue, bool offline) {
  std::vector<Diagnosis> told;
  std::set<std::string> lines;
  for (const Diagnosis& failure : catalogue.failures) {
    // What was not sent in time is among the catalogue's own warnings.
    const bool unreached = failure.code.starts_with("EH-N") && failure.code != "EH-N03";
    const bool is_one = failure.code.starts_with("EH-M") || failure.code == "EH-P01" || unreached;
    // Those of installations are told with what else is known of them.
    if (!is_one || (unreached && offline) || !failure.value("installation").empty()) continue;
    if (lines.insert(explain::one_line(failure)).second) told.push_back(failure);
  }
  return told;
}

Result<acquire::Acquired> fetch_best(World& world, resolve::Plan& plan, const FetchOptions& options) {
  if (auto forbidden = forbidden_by_name(world.catalogue())) return fail(std::move(*forbidden));
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
      // What is fetched all the same must not hide that a repository was refused.
      for (Diagnosis& failure : told_of(world.catalogue(), plan.request.offline || world.settings().offline))
        acquired->warnings.push_back(std::move(failure));
      return acquired;
    }
    candidate.turn_down(resolve::Verdict::failed,
                        acquired.error().within("while fetching " + candidate.build->id));
    if (!first) first = candidate.diagnosis();
    if (ends_the_search(*first)) break;
  }
  if (!first) first = why_nothing_is_known(world.catalogue(), plan);
  return fail(first ? std::move(*first) : diagnose("EH-S01"));
}

}  // namespace enginehost::open
