#include "host/open/open.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/catalog/repositories.hpp"
#include "host/catalog/unreached.hpp"
#include "host/context/request.hpp"
#include "host/decision_cache/decision_cache.hpp"
#include "host/explain/explain.hpp"
#include "host/open/forecast.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"

namespace enginehost::open {
namespace {

using resolve::Candidate;
using resolve::Verdict;

// Returns the device that must be there, if the request names one. With alternatives nothing is required,
// because the plan has chosen.
std::vector<std::string> demanded_devices(const resolve::Request& request) {
  const auto requested = resolve::devices_of(request.device);
  return requested.size() == 1 ? requested : std::vector<std::string>{};
}

bool constraint_met(const resolve::Request& request, const Opened& opened) {
  if (!request.flavor.empty() && request.flavor != opened.installed.flavor) return false;
  const auto requested = resolve::devices_of(request.device);
  return requested.empty() ||
         std::any_of(opened.devices.begin(), opened.devices.end(),
                     [&](const load::Device& device) { return device.is_meant_by(requested.front()); });
}

// Where a failure can be acted on, nearest first.
enum class Reach { caller, machine, server };

// By the exit status of the failure's class. A license, a library, a conflict in this process, the disk:
// somebody on this machine can act. Nobody here repairs a server.
constexpr std::pair<explain::ExitStatus, Reach> reaches[] = {
    {explain::ExitStatus::interrupted, Reach::caller},  // the caller ended the request
    {explain::ExitStatus::forbidden, Reach::machine},    {explain::ExitStatus::usage, Reach::machine},
    {explain::ExitStatus::nothing_fits, Reach::machine}, {explain::ExitStatus::not_loaded, Reach::machine},
    {explain::ExitStatus::cache, Reach::machine},        {explain::ExitStatus::bug, Reach::machine},
    {explain::ExitStatus::wrong_bytes, Reach::server},   {explain::ExitStatus::not_fetched, Reach::server},
};

Reach reach_of(const Diagnosis& failure) {
  const explain::ExitStatus status = explain::exit_status(failure);
  for (const auto& [known, reach] : reaches)
    if (known == status) return reach;
  return Reach::machine;
}

// Returns true for "cpu:7" where the engine offers cpu:0: another build would not find more such devices.
bool is_beyond_what_is_there(const Diagnosis& failure) {
  if (failure.code != Code::device_not_offered) return false;
  const std::string_view device = failure.value(Key::device);
  const std::string kind(device.substr(0, device.find(':') + 1));
  return !kind.empty() && std::ranges::any_of(failure.evidence, [&](const Evidence& fact) {
    return fact.what == Key::offered && fact.value.starts_with(kind);
  });
}

void add_log(Outcome& outcome, AttemptLog& log) {
  outcome.downloaded += log.downloaded;
  outcome.download_seconds += log.download_seconds;
  outcome.probed = log.probed;
  outcome.proven_before = log.proven_before;
  for (auto& timing : log.timings_ms) {
    const auto same = std::find_if(outcome.timings_ms.begin(), outcome.timings_ms.end(),
                                   [&](const auto& known) { return known.first == timing.first; });
    if (same != outcome.timings_ms.end())
      same->second += timing.second;
    else
      outcome.timings_ms.push_back(timing);
  }
  for (Diagnosis& warning : log.warnings) outcome.warnings.push_back(std::move(warning));
}

// The note that the servers of a build's files did not answer; empty for a build that is installed, or if
// there is no folder for notes.
std::filesystem::path note_of_servers(OpenContext& context, const resolve::Plan& plan,
                                      const manifest::Build& build) {
  if (context.state_folder().empty() || plan.request.installed.contains(build.id)) return {};
  return context.state_folder() / "unreached" / (sha256_hex(build.id).substr(0, 32) + ".json");
}

// Skips candidates whose servers just did not answer, if an installed build can be opened instead. Returns
// the ones to try, in order; the skipped ones come last.
std::vector<Candidate*> in_order_of_trial(OpenContext& context, const OpenRequest& open, Outcome& outcome) {
  std::vector<Candidate*> order, skipped;
  const auto& installed = outcome.plan.request.installed;
  for (std::size_t i = 0; i < outcome.plan.candidates.size(); ++i) {
    Candidate& candidate = outcome.plan.candidates[i];
    if (candidate.rank == 0) continue;
    const bool another_is_installed = std::any_of(
        outcome.plan.candidates.begin() + static_cast<std::ptrdiff_t>(i), outcome.plan.candidates.end(),
        [&](const Candidate& later) { return later.rank != 0 && installed.contains(later.build->id); });
    const bool is_forced = outcome.plan.request.force == candidate.build->id;
    auto failure = open.bypass_cache || is_forced || !another_is_installed
                       ? std::nullopt
                       : catalog::recently_unreached(note_of_servers(context, outcome.plan, *candidate.build),
                                                     OpenContext::now());
    if (!failure) {
      order.push_back(&candidate);
      continue;
    }
    keep_the_reason(outcome.diagnosis, *failure);
    candidate.turn_down(Verdict::failed, std::move(*failure));
    skipped.push_back(&candidate);
  }
  order.insert(order.end(), skipped.begin(), skipped.end());
  return order;
}

void take(Outcome& outcome, Candidate& candidate, std::shared_ptr<Opened> opened) {
  candidate.verdict = Verdict::chosen;
  outcome.state = State::opened;
  outcome.opened = std::move(opened);
  outcome.chosen = &candidate;
}

// Tries the ranked candidates in order until one opens.
void try_candidates(OpenContext& context, const OpenRequest& open, Outcome& outcome) {
  const std::vector<std::string> devices = demanded_devices(outcome.plan.request);
  catalog::SilentServers silent;
  bool only_installed = false;
  std::vector<std::pair<Candidate*, history::Record>> on_processor;
  const bool may_use_processor = resolve::may_use_processor(outcome.plan.request);
  for (Candidate* const one : in_order_of_trial(context, open, outcome)) {
    Candidate& candidate = *one;
    if (only_installed && !outcome.plan.request.installed.contains(candidate.build->id)) continue;
    if (auto failure = silent.find(*candidate.build, context.store())) {
      candidate.turn_down(Verdict::failed, std::move(*failure));
      continue;
    }
    const std::filesystem::path note = note_of_servers(context, outcome.plan, *candidate.build);
    // Its server is asked again only where nothing else is known that somebody could do.
    const bool may_skip =
        !open.bypass_cache && outcome.diagnosis && reach_of(*outcome.diagnosis) != Reach::server;
    if (auto failure = may_skip ? catalog::recently_unreached(note, OpenContext::now()) : std::nullopt) {
      candidate.turn_down(Verdict::failed, std::move(*failure));
      continue;
    }
    AttemptLog log;
    AttemptOptions options = open.attempt;
    if (candidate.on_processor && candidate.turned_down)
      options.on_processor = context.history().find(candidate.build->id);
    if (const auto compiles = candidate.proven ? std::nullopt : resolve::compiled_at_first_use(candidate);
        compiles && open.before_compiling && options.on_processor == nullptr)
      open.before_compiling(*compiles);
    auto opened = attempt(context, *candidate.build, devices, options, log);
    add_log(outcome, log);
    if (opened) return take(outcome, candidate, std::move(*opened));
    if (log.on_processor && may_use_processor) on_processor.emplace_back(&candidate, *log.on_processor);
    catalog::note_unreached(note, opened.error());
    if (catalog::is_unreached(opened.error()))
      silent.note(std::string(opened.error().value(Key::url)), opened.error());
    const std::string& set_by = outcome.plan.request.device_source;
    if (opened.error().code == Code::device_not_offered && !set_by.empty())
      opened.error().with(Key::device_set_by, set_by, "request");
    const bool ends = ends_the_search(opened.error()) || is_beyond_what_is_there(opened.error());
    only_installed = only_installed || fetches_no_more(opened.error());
    keep_the_reason(outcome.diagnosis, opened.error());
    candidate.turn_down(Verdict::failed, std::move(opened).error());
    if (ends) return;
  }
  // Nothing else opens: a build whose GPUs failed just now computes on its processor.
  for (auto& [candidate, record] : on_processor) {
    AttemptLog log;
    AttemptOptions options = open.attempt;
    options.on_processor = &record;
    auto opened = attempt(context, *candidate->build, devices, options, log);
    add_log(outcome, log);
    if (opened) return take(outcome, *candidate, std::move(*opened));
  }
  if (!outcome.diagnosis) outcome.diagnosis = outcome.plan.diagnosis;
}

// Returns why requested installations do not serve this request. Each is reported, even if something else
// opens.
std::vector<Diagnosis> unusable_installations(const manifest::Catalog& catalog, const resolve::Plan& plan) {
  std::vector<Diagnosis> found;
  for (const Diagnosis& failure : catalog.failures)
    if (failure.code == Code::installation_unusable || failure.code == Code::no_engine_in_installation ||
        !failure.value(Key::installation).empty())
      found.push_back(failure);
  for (const Candidate& candidate : plan.candidates)
    if (candidate.build->in_place && candidate.build->in_place->problem)
      if (auto diagnosis = candidate.diagnosis()) found.push_back(std::move(*diagnosis));
  return found;
}

// Always warns when a CPU build was chosen although an accelerator is present.
void warn_of_idle_accelerator(OpenContext& context, Outcome& outcome) {
  if (outcome.chosen == nullptr) return;
  if (auto idle = resolve::idle_accelerator(outcome.plan, context.platform(), *outcome.chosen->build))
    outcome.warnings.push_back(std::move(*idle));
}

// Says which GPUs the driver compiles for, unless the build is proven: the driver keeps what it compiled.
void note_compiling(Outcome& outcome) {
  if (outcome.chosen == nullptr || outcome.chosen->proven || outcome.chosen->on_processor) return;
  if (auto note = resolve::compiled_at_first_use(*outcome.chosen))
    outcome.warnings.push_back(std::move(*note));
}

// Warns if the build is used only because the request forces it.
void warn_of_force(Outcome& outcome) {
  if (outcome.chosen == nullptr || !outcome.chosen->forced) return;
  Diagnosis warning =
      diagnose(Code::forced_build_does_not_fit).with(Key::build, outcome.chosen->build->id, "request");
  std::vector<std::string> unmet;
  for (const resolve::Check& check : outcome.chosen->checks) {
    if (!check.overridden) continue;
    if (unmet.empty()) warning.with(Key::first_code, check.code, check.source);
    unmet.push_back(resolve::needs_and_found(check));
  }
  warning.with(Key::reason, join(unmet, "; ")).with(Key::engine, outcome.plan.request.engine, "request");
  outcome.warnings.push_back(std::move(warning));
}

// Warns if a forced build was tried and failed, as for one that cannot be tried.
void warn_of_forced_failure(Outcome& outcome) {
  if (outcome.state != State::opened || outcome.plan.forced_in_vain) return;
  const std::string& force = outcome.plan.request.force;
  for (const Candidate& candidate : outcome.plan.candidates) {
    if (force.empty() || candidate.build->id != force || candidate.verdict != Verdict::failed) continue;
    Diagnosis warning = diagnose(Code::forced_build_not_used).with(Key::build, force, "request");
    if (const auto failure = candidate.diagnosis())
      warning.with(Key::reason, "failed (" + explain::one_line(*failure) + ")")
          .with(Key::first_code, failure->code);
    outcome.warnings.push_back(std::move(warning));
  }
}

Outcome open_file(OpenContext& context, const OpenRequest& open) {
  Outcome outcome;
  outcome.plan.request = open.request;
  AttemptLog log;
  auto opened = attempt_file(context, open.plugin, demanded_devices(open.request), open.attempt, log);
  add_log(outcome, log);
  if (opened) {
    outcome.state = State::opened;
    outcome.opened = std::move(*opened);
  } else {
    outcome.diagnosis = explain::mark_as_argument(std::move(opened).error(), open.plugin);
  }
  return outcome;
}

// Returns the best candidate that may be tried, or the end.
auto first_that_fits(auto& candidates) {
  return std::ranges::find_if(candidates, [](const Candidate& candidate) { return candidate.rank > 0; });
}

// Returns true if a skipped repository may have something better than the installed builds.
bool may_do_better_elsewhere(const resolve::Plan& plan) {
  const auto first = first_that_fits(plan.candidates);
  return plan.fallback || first == plan.candidates.end() ||
         !plan.request.installed.contains(first->build->id);
}

// Returns true if an equal request may open the same build without deciding again, as far as the outcome
// says.
bool is_repeatable(const Outcome& outcome) {
  return outcome.state == State::opened && outcome.proven_before && !outcome.probed &&
         outcome.downloaded == 0 && outcome.chosen != nullptr && outcome.chosen->rank == 1 &&
         !outcome.opened->installed.unlike_its_record;
}

Outcome failed_with(resolve::Request request, Diagnosis why) {
  Outcome outcome;
  outcome.plan.request = std::move(request);
  outcome.diagnosis = std::move(why);
  return outcome;
}

// `open`: completed.
Outcome decide_and_open(OpenContext& context, const OpenRequest& open) {
  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  auto plan = decide(context, open.request);
  if (plan && may_do_better_elsewhere(*plan) && context.ask_the_spared())
    plan = decide(context, open.request);
  if (!plan) return failed_with(open.request, std::move(plan).error());
  outcome.plan = std::move(*plan);
  const std::chrono::duration<double, std::milli> deciding = std::chrono::steady_clock::now() - begin;
  outcome.timings_ms.emplace_back("decide", deciding.count());

  if (auto forbidden = catalog::forbidden_by_name(context.catalog())) {
    outcome.diagnosis = std::move(forbidden);
    return outcome;
  }
  const auto first = first_that_fits(outcome.plan.candidates);
  const std::vector<Diagnosis> unusable = unusable_installations(context.catalog(), outcome.plan);
  // A successful open must not hide that a repository was refused or not reached.
  std::vector<Diagnosis> unread = catalog::catalog_warnings(
      context.catalog(), outcome.plan.request.offline || context.settings().offline);
  if (first == outcome.plan.candidates.end()) {
    outcome.diagnosis = catalog::why_nothing_is_known(context.catalog(), outcome.plan);
    // A failure that is in the diagnosis is not also a warning.
    if (!outcome.plan.candidates.empty() && outcome.diagnosis->value(Key::also).empty())
      outcome.warnings = std::move(unread);
    // A caller that names an installation needs its failure first.
    if (!unusable.empty()) {
      const std::optional<Diagnosis> other = std::exchange(outcome.diagnosis, unusable.front());
      if (other && other->code != unusable.front().code)
        outcome.diagnosis->with(Key::also, explain::one_line(*other));
    }
    return outcome;
  }
  outcome.warnings.insert(outcome.warnings.end(), unusable.begin(), unusable.end());
  for (const auto& warning : {outcome.plan.forced_in_vain, outcome.plan.misplaced_flavor})
    if (warning) outcome.warnings.push_back(*warning);
  outcome.warnings.insert(outcome.warnings.end(), std::make_move_iterator(unread.begin()),
                          std::make_move_iterator(unread.end()));
  if (open.plan_only || context.is_recorded()) {
    foresee(context, outcome.plan, open.asks);
    outcome.state = State::planned;
    outcome.chosen = &*std::ranges::find(outcome.plan.candidates, Verdict::chosen, &Candidate::verdict);
    warn_of_force(outcome);
    warn_of_idle_accelerator(context, outcome);
    note_compiling(outcome);
    outcome.fallback = outcome.plan.fallback;
    return outcome;
  }
  // decide() marks the best candidate as chosen. The real choice is known only after trying.
  first->verdict = Verdict::fits;
  try_candidates(context, open, outcome);
  if (outcome.state == State::opened)
    outcome.fallback = is_fallback(outcome.plan) || outcome.opened->on_processor ||
                       !constraint_met(outcome.plan.request, *outcome.opened);
  warn_of_force(outcome);
  warn_of_forced_failure(outcome);
  warn_of_idle_accelerator(context, outcome);
  if (!open.before_compiling) note_compiling(outcome);  // else it was said before
  return outcome;
}

}  // namespace

// The names are in the order of State.
const char* name_of(State state) {
  static constexpr const char* names[] = {"opened", "planned", "failed"};
  return names[static_cast<std::size_t>(state)];
}

bool ends_the_search(const Diagnosis& failure) {
  // The next build would meet the same limit, after it was fetched.
  constexpr Code limits[] = {Code::out_of_memory, Code::limit_stopped_engine, Code::too_many_open_files};
  return failure.code == Code::canceled || std::ranges::find(limits, failure.code) != std::end(limits) ||
         (failure.code == Code::consent_missing && failure.value(Key::license).empty());
}

bool fetches_no_more(const Diagnosis& failure) {
  constexpr Code shortages[] = {Code::disk_full, Code::memory_short_for_library, Code::library_input_error,
                                Code::page_file_too_small};
  // A GPU that is busy, or without memory, is the same for the next build.
  if (area_of(failure.code) == Area::gpus && explain::category(failure) == history::Category::transient)
    return true;
  if (std::ranges::find(shortages, failure.code) == std::end(shortages)) return false;
  // A library that no process could map is its build's fault, and one sector of a disk is not the whole disk.
  if (failure.code == Code::memory_short_for_library)
    return explain::category(failure) == history::Category::transient;
  return failure.code != Code::library_input_error ||
         failure.value(Key::os_said).starts_with("Too many open files") ||
         failure.value(Key::errno_) == "EMFILE";
}

void keep_the_reason(std::optional<Diagnosis>& reason, const Diagnosis& failure) {
  if (!reason || reach_of(failure) < reach_of(*reason)) reason = failure;
}

int Outcome::exit_status() const {
  if (state == State::opened || state == State::planned) return 0;
  return static_cast<int>(diagnosis ? explain::exit_status(*diagnosis) : explain::ExitStatus::bug);
}

DecisionCache decisions_for(const settings::FlagValues& flags, const OpenRequest& open) {
  if (open.plan_only || open.bypass_cache || !open.plugin.empty()) return {};
  return {flags, open.request, open.attempt.probe, open.attempt.probe_deadline};
}

std::optional<Outcome> open_by(OpenContext& context, const OpenRequest& open, CachedDecision decision,
                               std::chrono::steady_clock::time_point begin) {
  if (context.cancel() && context.cancel()->canceled()) return std::nullopt;
  Outcome outcome;
  outcome.plan.request = completed(open.request, decision.defaults);
  AttemptLog log;
  const std::chrono::duration<double, std::milli> looking = std::chrono::steady_clock::now() - begin;
  log.timings_ms.emplace_back("ticket", looking.count());
  auto opened = attempt_cached(context, decision, demanded_devices(outcome.plan.request), open.attempt, log);
  if (!opened) return std::nullopt;
  add_log(outcome, log);
  outcome.state = State::opened;
  outcome.by_cached_decision = true;
  context.set_passed_over(std::move(decision.passed_over));
  outcome.fallback = decision.fallback;
  outcome.opened = std::move(*opened);
  return outcome;
}

Outcome open_engine(OpenContext& context, OpenRequest open, DecisionCache& decisions) {
  if (!open.plugin.empty()) return open_file(context, open);
  if (open.attempt.probe_deadline) context.allow_probe(*open.attempt.probe_deadline);
  auto refused = refused_by_policy(open.request, context.settings());
  const resolve::Request request = completed(open.request, defaults_of(context.settings()));
  if (context.cancel() && context.cancel()->canceled() && !open.plan_only)
    return failed_with(request, diagnose(Code::canceled));
  if (refused) return failed_with(std::move(open.request), std::move(*refused));
  open.request = request;
  decisions.begin(context);
  // A request that can be served does not wait for a repository that just did not answer.
  if (!open.plan_only && !open.bypass_cache) context.spare_unreached();
  Outcome outcome = decide_and_open(context, open);
  const bool stopped = outcome.diagnosis && outcome.diagnosis->code == Code::canceled;
  if (outcome.state == State::failed && !stopped && context.ask_the_spared())
    outcome = decide_and_open(context, open);
  if (is_repeatable(outcome))
    decisions.keep(context, outcome.plan, outcome.opened->installed, outcome.fallback, outcome.warnings);
  return outcome;
}

Outcome open_engine(OpenContext& context, OpenRequest open) {
  DecisionCache none;
  return open_engine(context, std::move(open), none);
}

Outcome open_cached(OpenContext& context, const OpenRequest& open, DecisionCache& decisions) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto decision = decisions.find())
    if (auto outcome = open_by(context, open, std::move(*decision), begin)) return std::move(*outcome);
  return open_engine(context, open, decisions);
}

void weigh(OpenContext& context, Outcome& outcome) {
  if (!outcome.by_cached_decision || outcome.chosen != nullptr) return;
  auto plan = decide(context, outcome.plan.request);
  if (!plan) return;  // warnings() says why
  outcome.plan = std::move(*plan);
  for (Candidate& candidate : outcome.plan.candidates) {
    if (candidate.verdict == Verdict::chosen) candidate.verdict = Verdict::fits;
    if (candidate.build->id != outcome.opened->installed.build) continue;
    candidate.verdict = Verdict::chosen;
    outcome.chosen = &candidate;
  }
}

}  // namespace enginehost::open
