#include "host/catalog/repositories.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "host/catalog/vendor_facts.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::catalog {

namespace {

// Returns true for a repository that could not be asked, or whose documents are not the published ones. Its
// builds are unknown.
bool keeps_builds_unknown(const Diagnosis& failure, bool offline) {
  if (!failure.value(Key::installation).empty() || (offline && area_of(failure.code) == Area::network))
    return false;
  const explain::ExitStatus status = explain::exit_status(failure);
  return status == explain::ExitStatus::not_fetched || status == explain::ExitStatus::wrong_bytes ||
         failure.code == Code::key_not_trusted;
}

}  // namespace

std::optional<Diagnosis> why_nothing_is_known(const manifest::Catalog& catalog, const resolve::Plan& plan) {
  std::vector<Diagnosis> failures;
  std::ranges::copy_if(catalog.failures, std::back_inserter(failures),
                       [](const Diagnosis& one) { return !is_of_vendor_facts(one); });
  if (failures.empty() || !plan.diagnosis) return plan.diagnosis;
  const bool none_readable =
      plan.candidates.empty() && catalog.builds.empty() && catalog.unread_engines.empty();
  // Builds that are quarantined, or would have to be fetched, are known.
  const bool may_be_elsewhere = plan.diagnosis->code == Code::no_build_fits ||
                                plan.diagnosis->code == Code::engine_unknown ||
                                plan.diagnosis->code == Code::locked_build_not_offered;
  auto cause = none_readable ? failures.begin() : failures.end();
  const auto of_its_manifest = std::ranges::find_if(failures, [&](const Diagnosis& failure) {
    return failure.value(Key::manifest_of) == plan.request.engine;
  });
  if (plan.candidates.empty() && of_its_manifest != failures.end())
    cause = of_its_manifest;
  else if (may_be_elsewhere && !none_readable)
    cause = std::ranges::find_if(failures, [&](const Diagnosis& failure) {
      return keeps_builds_unknown(failure, plan.request.offline);
    });
  const bool is_cause = cause != failures.end();
  if (!is_cause && !plan.candidates.empty()) return plan.diagnosis;
  Diagnosis diagnosis = is_cause ? *cause : *plan.diagnosis;
  if (is_cause && !none_readable && cause != of_its_manifest)
    diagnosis.with(Key::also, explain::one_line(*plan.diagnosis));
  for (auto failure = failures.begin(); failure != failures.end(); ++failure)
    if (failure != cause) diagnosis.with(Key::also, explain::one_line(*failure));
  if (is_cause) diagnosis.within("while looking for builds of " + plan.request.engine);
  return diagnosis;
}

std::optional<Diagnosis> forbidden_by_name(const manifest::Catalog& catalog) {
  for (const Diagnosis& failure : catalog.failures)
    if (failure.code == Code::forbidden_by_policy && !failure.value(Key::flag).empty()) return failure;
  return std::nullopt;
}

std::vector<Diagnosis> catalog_warnings(const manifest::Catalog& catalog, bool offline) {
  std::vector<Diagnosis> warnings;
  std::set<std::string> lines;
  for (const Diagnosis& failure : catalog.failures) {
    // The catalog warns itself about a document that did not arrive in time. Failures of installations are
    // reported with the other facts about them.
    const bool said_elsewhere =
        failure.code == Code::transfer_stalled || failure.code == Code::installation_unusable ||
        failure.code == Code::no_engine_in_installation || !failure.value(Key::installation).empty();
    if (said_elsewhere || (offline && area_of(failure.code) == Area::network)) continue;
    if (lines.insert(explain::one_line(failure)).second) warnings.push_back(failure);
  }
  return warnings;
}

}  // namespace enginehost::catalog
