#include "host/resolve/checks.hpp"
#include "host/resolve/describe.hpp"

namespace enginehost::resolve {

std::vector<Check> Candidate::checks() const {
  if (!question_) return {};
  CheckFindings findings(CheckFindings::Detail::texts);
  hold(*build, *question_, findings);
  return findings.take_checks();
}

std::optional<Diagnosis> Candidate::diagnosis() const {
  if (turned_down_) return *turned_down_;
  if (!question_ || (verdict != Verdict::rejected && verdict != Verdict::unavailable)) return std::nullopt;
  CheckFindings findings(CheckFindings::Detail::texts);
  if (!hold(*build, *question_, findings).asked_for) return std::nullopt;
  const std::vector<Check> checks = findings.take_checks();
  const Check* refusal = decisive_check(checks);
  return refusal != nullptr ? std::optional(diagnosis_of(*build, *refusal)) : std::nullopt;
}

void Candidate::turn_down(Verdict how, Diagnosis why) {
  verdict = how;
  turned_down_ = std::make_shared<const Diagnosis>(std::move(why));
}

}  // namespace enginehost::resolve
