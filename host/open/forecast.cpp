#include "host/open/forecast.hpp"

#include <algorithm>

#include "host/attempt/install.hpp"
#include "host/consent/consent.hpp"

namespace enginehost::open {
namespace {

using resolve::Candidate;
using resolve::Verdict;

std::optional<Diagnosis> obstacle_to(OpenContext& context, const manifest::Build& build) {
  const auto question = question_offline(context, build);
  if (!question) return question.error();
  if (question->sources.empty()) return std::nullopt;
  const auto standing = check_download(context, build, *question);
  if (!standing) return standing.error();
  if (standing->to_ask.empty()) return std::nullopt;
  Diagnosis missing = consent::consent_missing(*question, standing->to_ask.front());
  for (std::size_t i = 1; i < standing->to_ask.size(); ++i)
    missing.with(Key::license, standing->to_ask[i].license.id);
  return missing;
}

}  // namespace

void foresee(OpenContext& context, resolve::Plan& plan, bool asks) {
  asks = asks || context.is_recorded();  // somebody answers there
  Candidate *opens = nullptr, *waits = nullptr;
  for (Candidate& candidate : plan.candidates) {
    if (candidate.rank == 0) continue;
    if (context.is_recorded() || !plan.request.installed.contains(candidate.build->id))
      candidate.obstacle = obstacle_to(context, *candidate.build);
    if (!candidate.obstacle) opens = &candidate;
    if (candidate.obstacle && candidate.obstacle->code == Code::consent_missing && waits == nullptr)
      waits = &candidate;
    if (opens != nullptr || (asks && waits != nullptr)) break;
  }
  Candidate* const taken = asks && waits != nullptr ? waits : opens != nullptr ? opens : waits;
  if (taken == nullptr) return;
  for (Candidate& candidate : plan.candidates)
    if (candidate.verdict == Verdict::chosen) candidate.verdict = Verdict::fits;
  taken->verdict = Verdict::chosen;
  plan.fallback = plan.fallback || taken->rank != 1;
}

}  // namespace enginehost::open
