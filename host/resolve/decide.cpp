#include <algorithm>
#include <functional>
#include <tuple>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/manifest/repository.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/misplaced.hpp"
#include "host/resolve/order.hpp"

namespace enginehost::resolve {
namespace {

using history::Record;
using history::State;
using manifest::Build;

constexpr std::size_t most_versions = 12;

// Returns the record that applies to the build: same id, same artifacts, same loading settings. A build
// without known digests is compared with the installed digest. A build that a user disabled stays disabled
// however it is loaded, and by its id alone if the record has no digest.
const Record* record_of(const Build& build, const history::History& history) {
  const auto found = history.records.find(build.id);
  if (found == history.records.end()) return nullptr;
  const Record& record = found->second;
  if (record.state == State::disabled && record.artifacts_digest.empty()) return &record;
  if (record.state != State::disabled && !history::is_of_loading(record, build.loading_digest()))
    return nullptr;
  const std::string artifacts = build.artifacts_digest();
  if (!artifacts.empty() || !record.artifacts_digest.empty())
    return artifacts == record.artifacts_digest ? &record : nullptr;
  return build.digest.empty() || build.digest == record.digest ? &record : nullptr;
}

Diagnosis set_aside(const Build& build, const Record& record) {
  Diagnosis diagnosis = diagnose(Code::quarantined).with(Key::build, build.id, "catalog");
  std::string reason;
  for (const char* member : {"cause", "title", "code"})
    if (reason.empty()) reason = record.diagnosis[member].as_string();
  if (record.state == State::disabled) {
    reason = "disabled by hand";
    diagnosis.with(Key::disabled, "by hand", "history of this machine");
  }
  if (record.state == State::unfit)
    diagnosis.with(Key::unfit, "until the machine changes", "history of this machine");
  if (!reason.empty()) diagnosis.with(Key::reason, reason, "history of this machine");
  if (const std::string& code = record.diagnosis["code"].as_string(); !code.empty())
    diagnosis.with(Key::first_code, code, "history of this machine");
  diagnosis.with(Key::state, history::name_of(record.state), "history of this machine");
  if (record.retry_after != 0)
    diagnosis.with(Key::retry_after, text_of_time(record.retry_after), "history of this machine");
  return diagnosis;
}

bool is_availability(Code code) {
  return code == Code::build_without_digest || code == Code::no_plugin_for_build ||
         code == Code::not_installed_and_offline || code == Code::index_expired;
}

// Returns false if the repository lists the build and does not have it: only a publisher can change that.
bool is_offered(Code code) { return code != Code::build_without_digest && code != Code::no_plugin_for_build; }

// Returns true if only another machine would help: another processor or card, or another C library.
bool is_beyond_reach(Code code, const Machine& machine) {
  if (code == Code::driver_not_found) return machine.platform.cuda.hardware.is_absent();
  if (code == Code::rocm_does_not_fit) return machine.platform.rocm.is_absent();
  for (const Code other : {Code::no_code_for_gpu, Code::processor_too_old, Code::built_for_musl,
                           Code::built_for_glibc, Code::not_enough_memory, Code::not_enough_device_memory,
                           Code::no_metal_device, Code::other_kind_of_arm64_machine})
    if (code == other) return true;
  return false;
}

// Returns 1208 for "12.8", and 602 for ">=6.2".
int number_of(std::string_view version) {
  const std::size_t begin = version.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  int parts[2] = {0, 0};
  std::size_t part = 0;
  for (const char c : version.substr(begin)) {
    if (c == '.' && part == 0)
      part = 1;
    else if (c >= '0' && c <= '9' && parts[part] < 100)
      parts[part] = parts[part] * 10 + (c - '0');
    else
      break;
  }
  return parts[0] * 100 + parts[1];
}

// A container may show the kernel's driver without the driver's libraries: nothing in it can use CUDA.
bool has_nvidia_driver(const platform::Cuda& cuda) {
  return cuda.driver_cuda.is_known() || (cuda.driver.is_known() && !cuda.driver_cuda.is_absent());
}

Rank rank_of(const Candidate& candidate, const Question& question, const CudaChecked& cuda) {
  const Build& build = *candidate.build;
  Rank rank;
  const Request& request = question.request;
  const std::string_view device = main_device(build);
  rank.not_forced = request.force.empty() || request.force != build.id;
  rank.unnamed_prerelease = is_prerelease(build.version) && !question.version.names_prerelease();
  rank.flavor_not_requested = !request.flavor.empty() && request.flavor != build.flavor;
  for (const std::string& wanted : question.devices) {
    const std::string_view kind = std::string_view(wanted).substr(0, wanted.find(':'));
    if (kind == device || (kind == "gpu" && device != "cpu")) break;
    ++rank.device_place;
  }
  rank.not_held = !request.held.empty() && request.held != build.id;
  for (const Check& check : candidate.checks)
    if (check.result == Answer::unknown)
      (check.left_to_preflight ? rank.library_not_looked_for : rank.has_unknown) = 1;
  rank.is_cpu = device == "cpu";
  rank.stands_in = has_nvidia_driver(question.machine.platform.cuda) && !build.stand_ins().empty();
  rank.unserved = cuda.unserved;
  rank.by_minor_version = cuda.fit == CudaFit::minor_version;
  rank.priority = -build.priority;
  if (build.requires_.cuda)
    rank.toolkit = -number_of(build.requires_.cuda->toolkit);
  else if (build.requires_.rocm)
    rank.toolkit = -number_of(build.requires_.rocm->version);
  rank.not_completed = !build.in_place;
  rank.not_proven = !candidate.proven;
  return rank;
}

bool is_processor(std::string_view device) { return device.substr(0, device.find(':')) == "cpu"; }

Weighed weigh(const std::shared_ptr<const Build>& build, const Question& question,
              const history::History& history) {
  Weighed weighed;
  Candidate& candidate = weighed.candidate;
  Checks& checks = candidate.checks;
  CudaChecked cuda;
  candidate.build = build;
  candidate.asked_for = check_request(*build, question, checks);
  weighed.to_be_requested = has_to_be_requested(*build, question);
  const Record* record = nullptr;
  if (candidate.asked_for) {
    const std::size_t of_request = checks.size();
    check_system(*build, question.machine.platform, checks);
    check_cuda_target(*build, question.machine.platform, checks);
    cuda = check_cuda(*build, question, checks);
    if (!build->id.empty() && build->id == question.request.force)
      for (std::size_t i = of_request; i < checks.size(); ++i)
        if (checks[i].result == Answer::no) candidate.forced = checks[i].overridden = true;
    check_device(*build, question, checks);
    check_availability(*build, question, checks);
    record = record_of(*build, history);
  }
  const bool on_processor = record != nullptr && history::works_on_processor(*record);
  candidate.proven = record != nullptr && (record->state == State::proven || on_processor);
  weighed.rank = rank_of(candidate, question, cuda);
  const Check* const check = decisive_check(candidate);
  if (check != nullptr && check->result == Answer::no) weighed.refusal = check->code;
  if (!candidate.asked_for) {
    candidate.verdict = Verdict::rejected;
    weighed.stage = Stage::not_asked_for;
  } else if (weighed.refusal != Code::none) {
    // An unfit build is reported as unfit even if it is unavailable, so that nobody fetches it for nothing.
    const Code code = weighed.refusal;
    const bool only_unavailable = is_availability(code) || (build->in_place && build->in_place->problem);
    candidate.verdict = only_unavailable ? Verdict::unavailable : Verdict::rejected;
    if (only_unavailable)
      weighed.stage = is_offered(code) ? Stage::unavailable : Stage::not_offered;
    else if (code == Code::device_not_offered && !offers_one_of(*build, question.devices))
      weighed.stage = Stage::for_another_device;
    else
      weighed.stage = is_beyond_reach(code, question.machine) ? Stage::beyond_reach : Stage::unfit;
  } else if (on_processor && are_processors(question.devices)) {
    candidate.on_processor = true;
  } else if (record != nullptr && is_quarantined(*record, question.now) &&
             question.request.force != build->id) {
    candidate.on_processor = on_processor && may_use_processor(question.request);
    candidate.turn_down(record->state == State::disabled ? Verdict::disabled : Verdict::quarantined,
                        set_aside(*build, *record));
    weighed.stage = candidate.on_processor ? Stage::on_processor : Stage::set_aside;
  }
  return weighed;
}

// Returns the rank that the build would have if it fitted: without proofs, doubts and force.
Rank merit_of(Rank rank) {
  rank.not_forced = 1;
  rank.not_held = rank.not_installed = rank.not_installed_version = rank.has_unknown = rank.unserved =
      rank.by_minor_version = rank.library_not_looked_for = rank.not_proven = 0;
  return rank;
}

Diagnosis unknown_engine(const manifest::Catalog& catalog, const std::string& engine) {
  const std::vector<std::string> known = catalog.engines();
  Diagnosis diagnosis = diagnose(Code::engine_unknown).with(Key::engine, engine, "request");
  if (const auto near = nearest(engine, known)) diagnosis.with(Key::nearest, *near, "repositories");
  for (const std::string& name : known) diagnosis.with(Key::known, name, "repositories");
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

// Returns the newest version that is not above the requested one, else the oldest, as a suggestion. For a
// range its first bound is used.
std::string nearest_version(std::string_view wanted, const std::vector<std::string>& versions) {
  wanted.remove_prefix(std::min(wanted.find_first_not_of("<>=!~ "), wanted.size()));
  wanted = wanted.substr(0, wanted.find(','));
  std::string below, oldest;
  for (const std::string& version : versions) {
    if (compare_versions(version, wanted) <= 0 && (below.empty() || compare_versions(version, below) > 0))
      below = version;
    if (oldest.empty() || compare_versions(version, oldest) < 0) oldest = version;
  }
  return below.empty() ? oldest : below;
}

// Returns the versions that would be tried if the request named none, newest first, of each minor release
// the newest. If there are builds of the requested flavor, only theirs.
std::vector<std::string> versions_that_fit(const Plan& without_version) {
  std::vector<std::string> all, of_flavor;
  for (const Candidate& candidate : without_version.candidates) {
    if (candidate.rank == 0) continue;
    all.push_back(candidate.build->version);
    if (candidate.build->flavor == without_version.request.flavor)
      of_flavor.push_back(candidate.build->version);
  }
  std::vector<std::string>& versions = of_flavor.empty() ? all : of_flavor;
  std::ranges::sort(versions,
                    [](const auto& one, const auto& two) { return compare_versions(one, two) > 0; });
  const auto is_of_one_minor = [](const auto& one, const auto& two) {
    return minor_release_of(one) == minor_release_of(two);
  };
  versions.erase(std::unique(versions.begin(), versions.end(), is_of_one_minor), versions.end());
  return std::move(versions);
}

void add_versions(const std::string& wanted, const std::vector<std::string>& fitting,
                  const std::vector<std::string>& known, Diagnosis& diagnosis) {
  diagnosis.with(Key::unknown_version, wanted, "request")
      .with(Key::nearest_version, nearest_version(wanted, fitting.empty() ? known : fitting), "repositories");
  for (std::size_t i = 0; i < std::min(fitting.size(), most_versions); ++i)
    diagnosis.with(Key::version_here, fitting[i], "repositories");
}

// Names the parts of the request that refused builds, because only omitting those allows more. `sorted` is
// parallel to the candidates. Returns true if the version alone refused all of them.
bool add_refusing_constraints(const Plan& plan, const std::vector<Weighed*>& sorted,
                              const std::function<Plan()>& without_version, Diagnosis& diagnosis) {
  std::size_t flavors = 0, devices = 0, unrequested = 0, others = 0, of_versions = 0;
  std::string to_be_named;
  std::vector<std::string> versions, versions_of_flavor, versions_to_be_requested;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Code code = sorted[i]->refusal;
    if (code == Code::build_for_other_system) continue;
    const Build& build = *plan.candidates[i].build;
    if (code == Code::other_version_requested) {
      ++of_versions;
      if (build.flavor == plan.request.flavor) versions_of_flavor.push_back(build.version);
      (sorted[i]->to_be_requested ? versions_to_be_requested : versions).push_back(build.version);
    } else {
      ++others;
    }
    if (code == Code::other_flavor_required) ++flavors;
    if (code == Code::device_not_offered) ++devices;
    if (code == Code::build_must_be_requested && unrequested++ == 0)
      to_be_named = plan.candidates[i].build->flavor;
  }
  const auto add = [&](Key key, std::size_t count) {
    if (count != 0) diagnosis.with(key, std::to_string(count), "repositories");
  };
  // Builds of other flavors may have the version.
  const bool only_of_flavor = flavors != 0 && others == flavors && !versions_of_flavor.empty();
  if (!versions_of_flavor.empty()) versions = std::move(versions_of_flavor);
  if (versions.empty()) versions = std::move(versions_to_be_requested);
  const bool unknown_version = !versions.empty() && (others == 0 || only_of_flavor);
  if (unknown_version)
    add_versions(plan.request.version, versions_that_fit(without_version()), versions, diagnosis);
  else
    add(Key::of_other_versions, of_versions);
  if (unknown_version && only_of_flavor) diagnosis.with(Key::of_flavor, plan.request.flavor, "request");
  add(Key::of_other_flavors, flavors);
  if (unrequested != 0 && unrequested == others)
    diagnosis.with(Key::to_be_named, to_be_named, "repositories");
  if (flavors != 0 && !plan.request.flavor_source.empty())
    diagnosis.with(Key::demanded_by, plan.request.flavor_source, "request");
  add(Key::for_other_devices, devices);
  if (devices != 0 && !plan.request.device_source.empty())
    diagnosis.with(Key::device_set_by, plan.request.device_source, "request");
  return unknown_version;
}

Diagnosis nothing_fits(const Plan& plan, const std::vector<Weighed*>& sorted,
                       const std::function<Plan()>& without_version) {
  Diagnosis diagnosis = diagnose(Code::no_build_fits)
                            .with(Key::engine, plan.request.engine, "request")
                            .with(Key::request, request_text(plan.request), "request")
                            .with(Key::count, std::to_string(plan.candidates.size()), "repositories");
  // The builds of other versions are no reason then.
  if (add_refusing_constraints(plan, sorted, without_version, diagnosis)) return diagnosis;
  // The nearest few are enough to see why; --explain shows all.
  for (std::size_t i = 0; i < std::min<std::size_t>(plan.candidates.size(), 5); ++i) {
    const Candidate& candidate = plan.candidates[i];
    const Check* const check = decisive_check(candidate);
    if (check == nullptr) continue;
    const std::string reason = needs_and_found(*check);
    if (i == 0) {
      diagnosis.with(Key::build, candidate.build->id, "repositories")
          .with(Key::reason, reason, check->source);
      diagnosis.with(Key::first_code, check->code, check->source);
      diagnosis.evidence.insert(diagnosis.evidence.end(), check->evidence.begin(), check->evidence.end());
    }
    diagnosis.with(Key::candidate,
                   candidate.build->id + ": " + std::string(text_of(check->code)) + " " + reason,
                   check->source);
  }
  return diagnosis;
}

// Opening the first build is a fallback if a better build is quarantined, or if it does not meet the request.
bool is_fallback(const std::vector<Weighed*>& sorted, const Request& request) {
  if (sorted.empty()) return false;
  const Weighed& first = *sorted[0];
  if (first.stage == Stage::on_processor) return true;
  if (first.stage != Stage::tried) return false;
  if (first.rank.flavor_not_requested != 0) return true;
  if (!request.device.empty() && first.rank.device_place != 0) return true;
  return std::any_of(sorted.begin(), sorted.end(), [&](const Weighed* one) {
    return (one->stage == Stage::set_aside || one->stage == Stage::on_processor) && one->rank < first.rank;
  });
}

// Warns if another build than the forced one is opened. A forced build of another engine belongs to another
// request.
std::optional<Diagnosis> forced_in_vain(const manifest::Catalog& catalog, const Plan& plan) {
  const std::string& force = plan.request.force;
  if (force.empty()) return std::nullopt;
  Diagnosis diagnosis = diagnose(Code::forced_build_not_used).with(Key::build, force, "request");
  diagnosis.with(Key::engine, plan.request.engine, "request");
  std::vector<std::string> known;
  for (const Candidate& candidate : plan.candidates) {
    known.push_back(candidate.build->id);
    if (candidate.build->id != force) continue;
    if (candidate.rank != 0) return std::nullopt;
    if (const Check* const check = decisive_check(candidate))
      diagnosis.with(Key::reason, needs_and_found(*check), check->source);
    return diagnosis;
  }
  if (std::any_of(catalog.builds.begin(), catalog.builds.end(),
                  [&](const auto& build) { return build->id == force; }))
    return std::nullopt;
  if (const auto near = nearest(force, known)) diagnosis.with(Key::nearest, *near, "repositories");
  return diagnosis.with(Key::unknown, force, "repositories");
}

}  // namespace

std::optional<Diagnosis> Candidate::diagnosis() const {
  if (turned_down) return turned_down;
  const Check* const check = decisive_check(*this);
  if (!asked_for || check == nullptr || check->result != Answer::no) return std::nullopt;
  Diagnosis diagnosis = diagnose(check->code).with(Key::build, build->id, "catalog");
  diagnosis.with(Key::engine, build->engine, "catalog");
  diagnosis.with(Key::requirement, check->requirement, "manifest")
      .with(Key::observed, check->observed, check->source);
  diagnosis.evidence.insert(diagnosis.evidence.end(), check->evidence.begin(), check->evidence.end());
  if (diagnosis.value(Key::required).empty()) diagnosis.with(Key::required, check->requirement, "manifest");
  if (diagnosis.value(Key::found).empty()) diagnosis.with(Key::found, check->observed, check->source);
  return diagnosis;
}

Update update_of(std::string_view text) {
  return text == "open" ? Update::open : text == "never" ? Update::never : Update::report;
}

void Candidate::turn_down(Verdict how, Diagnosis why) {
  verdict = how;
  turned_down = std::move(why);
}

bool are_processors(const std::vector<std::string>& devices) {
  return !devices.empty() && std::ranges::all_of(devices, is_processor);
}

bool may_use_processor(const Request& request) {
  const std::vector<std::string> devices = devices_of(request.device);
  return !request.require && (devices.empty() || std::ranges::any_of(devices, is_processor));
}

Plan decide(const platform::Platform& platform, const manifest::Catalog& catalog,
            const history::History& history, const Request& request, std::int64_t now) {
  Plan plan;
  plan.request = request;
  const Question question(platform, request, now);
  std::vector<Weighed> weighed;
  weighed.reserve(catalog.builds.size());
  for (const auto& build : catalog.builds)
    if (build->engine == request.engine) weighed.push_back(weigh(build, question, history));
  if (weighed.empty()) {
    plan.diagnosis = unknown_engine(catalog, request.engine);
    return plan;
  }
  auto no_such_flavor = unknown_flavor(request, weighed);
  const auto no_such_device = flavor_as_device(request, weighed);
  if (no_such_flavor && !request.require && knows_what_was_meant(*no_such_flavor))
    plan.misplaced_flavor = no_such_flavor;
  order_versions(weighed);
  order_installed(weighed, request);
  std::vector<Weighed*> sorted;
  sorted.reserve(weighed.size());
  for (Weighed& one : weighed) {
    one.candidate.merit = merit_of(one.rank);
    one.candidate.uncertain = one.rank.has_unknown != 0;
    sorted.push_back(&one);
  }
  // They are in the order of the catalog, so comparing addresses keeps that order for equal ranks.
  std::sort(sorted.begin(), sorted.end(), [](const Weighed* left, const Weighed* right) {
    // Among builds of other versions, those of an execution provider are the farthest from the request.
    const auto order_of = [](const Weighed* const& one) {
      return std::tuple(one->stage, one->to_be_requested && one->refusal == Code::other_version_requested,
                        one->rank, one);
    };
    return order_of(left) < order_of(right);
  });
  plan.fallback = is_fallback(sorted, request);
  plan.update = update_among(sorted, request);
  plan.candidates.reserve(weighed.size());
  int rank = 0;
  bool released = false;
  for (Weighed* one : sorted) {
    if (one->stage == Stage::on_processor) {
      one->candidate.rank = ++rank;
      if (rank == 1) one->candidate.verdict = Verdict::chosen;
    } else if (one->stage == Stage::tried) {
      one->candidate.rank = ++rank;
      one->candidate.behind_releases = released && one->rank.unnamed_prerelease != 0;
      released = released || one->rank.unnamed_prerelease == 0;
      one->candidate.verdict = rank == 1 ? Verdict::chosen : Verdict::fits;
    }
    plan.candidates.push_back(std::move(one->candidate));
  }
  plan.forced_in_vain = forced_in_vain(catalog, plan);
  plan.fallback = plan.fallback || (rank > 0 && plan.forced_in_vain.has_value());
  if (rank == 0) {
    const Candidate& best = plan.candidates.front();
    if (best.verdict != Verdict::rejected) plan.diagnosis = best.diagnosis();
    if (!plan.diagnosis && request.require) plan.diagnosis = std::move(no_such_flavor);
    if (!plan.diagnosis) plan.diagnosis = no_such_device;
    if (!plan.diagnosis)
      plan.diagnosis = nothing_fits(plan, sorted, [&] {
        Request any_version = request;
        any_version.version.clear();
        return decide(platform, catalog, history, any_version, now);
      });
  }
  return plan;
}

}  // namespace enginehost::resolve
