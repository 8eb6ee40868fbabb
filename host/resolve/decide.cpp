#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/ranking.hpp"

namespace enginehost::resolve {
namespace {

using history::Record;
using history::State;
using manifest::Build;

// How far a build came: the later it was stopped, the nearer it is to fitting.
enum class Stage { tried, set_aside, unavailable, unfit, not_asked_for };

struct Weighed {
  Candidate candidate;
  Rank rank;
  Stage stage = Stage::tried;
};

// A record counts for the build it was made with: same id and same artifacts. A build without known digests
// is held to the digest of what was installed; what a user disabled by id alone stays so.
const Record* record_of(const Build& build, const history::History& history) {
  const auto found = history.records.find(build.id);
  if (found == history.records.end()) return nullptr;
  const Record& record = found->second;
  if (record.state == State::disabled && record.artifacts_digest.empty()) return &record;
  const std::string artifacts = build.artifacts_digest();
  if (!artifacts.empty() || !record.artifacts_digest.empty())
    return artifacts == record.artifacts_digest ? &record : nullptr;
  return build.digest.empty() || build.digest == record.digest ? &record : nullptr;
}

bool is_set_aside(const Record& record, std::int64_t now) {
  switch (record.state) {
    case State::disabled:
      return true;
    case State::proven:
    case State::suspect:
      return false;
    case State::unfit:
    case State::blocked:
    case State::quarantined:
      break;
  }
  return record.retry_after == 0 || now < record.retry_after;
}

Diagnosis set_aside(const Build& build, const Record& record) {
  Diagnosis diagnosis = diagnose("EH-S14").with("build", build.id, "catalogue");
  std::string reason;
  for (const char* member : {"cause", "title", "code"})
    if (reason.empty()) reason = record.diagnosis[member].as_string();
  if (record.state == State::disabled) reason = "disabled by the user";
  if (!reason.empty()) diagnosis.with("reason", reason, "history of this machine");
  if (const std::string& code = record.diagnosis["code"].as_string(); !code.empty())
    diagnosis.with("first_code", code, "history of this machine");
  diagnosis.with("state", history::name_of(record.state), "history of this machine");
  if (record.retry_after != 0)
    diagnosis.with("retry_after", std::to_string(record.retry_after), "history of this machine");
  return diagnosis;
}

bool is_availability(const Check& check) {
  return check.code == "EH-S10" || check.code == "EH-S12" || check.code == "EH-S13";
}

Weighed weigh(const std::shared_ptr<const Build>& build, const Machine& machine,
              const history::History& history, const Request& request, std::int64_t now) {
  Weighed weighed;
  Candidate& candidate = weighed.candidate;
  candidate.build = build;
  candidate.checks.reserve(1 + (request.version.empty() ? 0u : 1u) + (request.require ? 1u : 0u));
  if (!check_request(*build, machine, request, candidate.checks)) {
    candidate.verdict = Verdict::rejected;
    weighed.stage = Stage::not_asked_for;
    weighed.rank = rank_of(*build, request, candidate.checks, CudaFit::none, false);
    return weighed;
  }
  candidate.checks.reserve(10);
  check_system(*build, machine, candidate.checks);
  const CudaFit cuda = check_cuda(*build, machine, candidate.checks);
  check_device(*build, machine, request, candidate.checks);
  check_availability(*build, request, candidate.checks);

  const Record* record = record_of(*build, history);
  candidate.proven = record != nullptr && record->state == State::proven;
  weighed.rank = rank_of(*build, request, candidate.checks, cuda, candidate.proven);
  const Check* refusal = decisive_check(candidate);
  if (refusal != nullptr && refusal->result == Answer::no) {
    // Not fitting says more than not being at hand: nobody should fetch it to find out.
    const bool only_unavailable = is_availability(*refusal);
    candidate.verdict = only_unavailable ? Verdict::unavailable : Verdict::rejected;
    weighed.stage = only_unavailable ? Stage::unavailable : Stage::unfit;
    candidate.diagnosis = diagnosis_of(*build, *refusal);
  } else if (record != nullptr && is_set_aside(*record, now) && request.force != build->id) {
    candidate.verdict = record->state == State::disabled ? Verdict::disabled : Verdict::quarantined;
    weighed.stage = Stage::set_aside;
    candidate.diagnosis = set_aside(*build, *record);
  }
  return weighed;
}

Diagnosis unknown_engine(const manifest::Catalogue& catalogue, const std::string& engine) {
  const std::vector<std::string> known = catalogue.engines();
  Diagnosis diagnosis = diagnose("EH-S02").with("engine", engine, "request");
  if (const auto near = nearest(engine, known)) diagnosis.with("nearest", *near, "repositories");
  for (const std::string& name : known) diagnosis.with("known", name, "repositories");
  return diagnosis;
}

std::string request_text(const Request& request) {
  std::string text = request.engine;
  if (!request.version.empty()) text += "@" + request.version;
  if (!request.flavor.empty()) text += (request.require ? " --require " : " --flavor ") + request.flavor;
  if (!request.device.empty()) text += " --device " + request.device;
  if (request.offline) text += " --offline";
  return text;
}

Diagnosis nothing_fits(const Plan& plan) {
  Diagnosis diagnosis = diagnose("EH-S01")
                            .with("engine", plan.request.engine, "request")
                            .with("request", request_text(plan.request), "request")
                            .with("count", std::to_string(plan.candidates.size()), "repositories");
  // The nearest few are enough to see why; --explain has them all.
  for (std::size_t i = 0; i < std::min<std::size_t>(plan.candidates.size(), 5); ++i) {
    const Candidate& candidate = plan.candidates[i];
    const Check* check = decisive_check(candidate);
    if (check == nullptr) continue;
    const std::string reason = "needs " + check->requirement + ", found " + check->observed;
    if (i == 0) {
      diagnosis.with("build", candidate.build->id, "repositories").with("reason", reason, check->source);
      diagnosis.with("first_code", check->code, check->source);
    }
    diagnosis.with("candidate", candidate.build->id + ": " + check->code + " " + reason, check->source);
  }
  return diagnosis;
}

// A better build that is set aside, or a wish that the first build does not meet, makes opening it a
// fallback.
bool is_fallback(const std::vector<const Weighed*>& sorted, const Request& request) {
  if (sorted.empty() || sorted[0]->stage != Stage::tried) return false;
  const Rank& first = sorted[0]->rank;
  if (first.flavor_not_wished != 0) return true;
  if (!request.device.empty() && first.device_place != 0) return true;
  return std::any_of(sorted.begin(), sorted.end(), [&](const Weighed* one) {
    return one->stage == Stage::set_aside && goes_before(one->rank, first);
  });
}

}  // namespace

Plan decide(const platform::Platform& platform, const manifest::Catalogue& catalogue,
            const history::History& history, const Request& request, std::int64_t now) {
  Plan plan;
  plan.request = request;
  const Machine machine(platform);
  std::vector<Weighed> weighed;
  weighed.reserve(catalogue.builds.size());
  for (const auto& build : catalogue.builds)
    if (build->engine == request.engine) weighed.push_back(weigh(build, machine, history, request, now));
  if (weighed.empty()) {
    plan.diagnosis = unknown_engine(catalogue, request.engine);
    return plan;
  }
  std::vector<std::pair<const std::string*, Rank*>> versions;
  std::vector<Weighed*> sorted;
  versions.reserve(weighed.size());
  sorted.reserve(weighed.size());
  for (Weighed& one : weighed) {
    versions.emplace_back(&one.candidate.build->version, &one.rank);
    sorted.push_back(&one);
  }
  order_versions(versions);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Weighed* left, const Weighed* right) {
    if (left->stage != right->stage) return left->stage < right->stage;
    return goes_before(left->rank, right->rank);
  });
  plan.fallback = is_fallback({sorted.begin(), sorted.end()}, request);
  plan.candidates.reserve(weighed.size());
  int rank = 0;
  for (Weighed* one : sorted) {
    if (one->stage == Stage::tried) {
      one->candidate.rank = ++rank;
      one->candidate.verdict = rank == 1 ? Verdict::chosen : Verdict::fits;
    }
    plan.candidates.push_back(std::move(one->candidate));
  }
  if (rank == 0) {
    const Candidate& best = plan.candidates.front();
    const bool own = best.verdict != Verdict::rejected && best.diagnosis.has_value();
    plan.diagnosis = own ? *best.diagnosis : nothing_fits(plan);
  }
  return plan;
}

}  // namespace enginehost::resolve
