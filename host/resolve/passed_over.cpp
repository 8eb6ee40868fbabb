#include "host/resolve/passed_over.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/describe.hpp"

namespace enginehost::resolve {
namespace {

std::string value_of(const Check& check, Key what) {
  for (const Evidence& fact : check.evidence)
    if (fact.what == what) return fact.value;
  return {};
}

// Returns the different values of that evidence, as "6.1, 7.0".
std::string values_of(const Check& check, Key what) {
  std::vector<std::string> values;
  for (const Evidence& fact : check.evidence)
    if (fact.what == what && std::find(values.begin(), values.end(), fact.value) == values.end())
      values.push_back(fact.value);
  return join(values, ", ");
}

// The sentences that are shorter or plainer than the requirement.
std::string reason_of(const Check& check) {
  const Code code = check.code;
  if (code == Code::driver_not_found) {
    if (value_of(check, Key::pci_device) == "none") return "needs an NVIDIA GPU";
    return "needs an NVIDIA driver";
  }
  if (code == Code::driver_is_stub) return "only a stub of the driver is found";
  if (code == Code::driver_and_library_differ) return "the driver and its library differ in version";
  if (code == Code::driver_library_not_searched)
    return "the loader does not look in " + value_of(check, Key::folder);
  if (code == Code::driver_library_empty) return value_of(check, Key::file) + " is empty";
  if (code == Code::linux_driver_in_wsl) return "a Linux driver hides that of Windows";
  if (code == Code::driver_module_not_loaded) return "NVIDIA's kernel module is not loaded";
  if (code == Code::forward_compatibility_not_supported || code == Code::cuda_unknown_error)
    return check.observed;
  if (code == Code::driver_too_old) {
    const std::string least = value_of(check, Key::minimum_driver), toolkit = value_of(check, Key::required);
    if (!least.empty()) return "needs driver " + least;
    if (!value_of(check, Key::driver_cuda).empty()) return "needs a driver for CUDA " + toolkit;
  }
  if (code == Code::no_code_for_gpu) {
    const std::string devices = values_of(check, Key::compute_capability);
    return devices.empty() ? "no code for this GPU" : "no code for compute " + devices;
  }
  if (code == Code::gpu_code_newer_than_driver) return "this driver cannot compile its PTX";
  if (code == Code::no_gpu_visible)
    return value_of(check, Key::visible_devices).empty() ? "no GPU is visible"
                                                         : "CUDA_VISIBLE_DEVICES hides every GPU";
  if (code == Code::library_missing && !value_of(check, Key::library).empty())
    return "needs " + value_of(check, Key::library);
  if (code == Code::build_for_other_system) return "no build is for " + check.observed;
  if (code == Code::build_without_digest) return "no checksum is published";
  if (code == Code::build_withdrawn) return "withdrawn: " + check.observed;
  if (code == Code::no_plugin_for_build) return value_of(check, Key::reason);
  if (code == Code::not_installed_and_offline) return "not installed, and offline";
  if (code == Code::index_expired) return "its repository has expired";
  if (code == Code::build_blocked) return "blocked: " + check.observed;
  return "needs " + check.requirement;
}

std::string without_prefix(std::string text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

bool is_excluded(Code code) {
  return code == Code::build_for_other_system || code == Code::other_flavor_required ||
         code == Code::other_version_requested || code == Code::device_not_offered ||
         code == Code::build_withdrawn || code == Code::build_must_be_requested ||
         code == Code::build_blocked;
}

// Returns true if the request excludes the build, or nobody should use it.
bool is_out_of_question(const Candidate& candidate) {
  const Check* const check = decisive_check(candidate);
  return check != nullptr && is_excluded(check->code);
}

bool lacks_hardware(const Candidate& candidate) {
  const Check* const check = decisive_check(candidate);
  return check != nullptr && lacks_hardware(*check);
}

// Returns true if nobody would buy a GPU for it: this machine has one of another maker, or the build is older
// than the one that opens here.
bool is_no_advice(const Candidate& candidate, const Candidate& chosen) {
  const Check* const check = decisive_check(candidate);
  if (check == nullptr || check->code != Code::driver_not_found || !lacks_hardware(*check)) return false;
  return !value_of(*check, Key::other_gpu).empty() ||
         compare_versions(candidate.build->version, chosen.build->version) < 0;
}

// Keeps the candidate if it would be preferred to the best so far. Those for hardware that the machine lacks
// come last.
void prefer(const Candidate& candidate, const Candidate*& best) {
  if (best == nullptr ||
      std::pair(lacks_hardware(candidate), candidate.merit) < std::pair(lacks_hardware(*best), best->merit))
    best = &candidate;
}

}  // namespace

std::vector<std::string> compiled_for(const Candidate& candidate) {
  std::vector<std::string> gpus;
  for (const Check& check : candidate.checks)
    for (const Evidence& fact : check.evidence)
      if (fact.what == Key::compiled_for) gpus.push_back(fact.value);
  return gpus;
}

std::optional<Diagnosis> compiled_at_first_use(const Candidate& candidate) {
  const std::vector<std::string> gpus = compiled_for(candidate);
  if (gpus.empty()) return std::nullopt;
  const manifest::Build& build = *candidate.build;
  const std::string command = "engine-info " + build.engine + (is_version(build.version) ? "@" : "@===") +
                              build.version + " --flavor " + build.flavor + " --warm";
  Diagnosis diagnosis = diagnose(Code::first_run_compiles)
                            .with(Key::build, build.id, "catalog")
                            .with(Key::warm, command, "catalog");
  for (const std::string& gpu : gpus) diagnosis.with(Key::device, gpu, "the manifest's GPU code");
  return diagnosis;
}

std::string obstacle_text(const Diagnosis& obstacle) {
  if (obstacle.code == Code::consent_missing) {
    // "LicenseRef-" is SPDX's prefix of an id that is not on its list.
    const std::size_t others = obstacle.values(Key::license).size() - 1;
    return printable_line("asks: license " +
                          without_prefix(std::string(obstacle.value(Key::license)), "LicenseRef-") +
                          (others == 0 ? "" : ", " + pluralize(others, "other", "others")));
  }
  if (obstacle.code == Code::forbidden_by_policy)
    return printable_line("forbidden by policy: " +
                          without_prefix(std::string(obstacle.value(Key::what)), "the "));
  if (area_of(obstacle.code) == Area::files) {
    const std::string problem(obstacle.value(Key::problem)), folder(obstacle.value(Key::folder));
    return printable_line("no cache: " + (problem.empty() ? folder + " cannot be written" : problem));
  }
  return "it cannot be installed";
}

PassedOver why_passed_over(const Candidate& candidate) {
  PassedOver found;
  found.candidate = &candidate;
  if (candidate.verdict == Verdict::quarantined || candidate.verdict == Verdict::disabled ||
      candidate.verdict == Verdict::failed) {
    const std::optional<Diagnosis>& diagnosis = candidate.turned_down;
    if (diagnosis) found.code = diagnosis->code;
    found.reason = name_of(candidate.verdict);
    std::string cause(diagnosis ? diagnosis->value(Key::first_code) : "");
    if (cause.empty() && candidate.verdict == Verdict::failed) cause = text_of(found.code);
    if (!cause.empty()) found.reason += " (" + cause + ")";
    return found;
  }
  if (candidate.obstacle) {
    found.code = candidate.obstacle->code;
    found.reason = obstacle_text(*candidate.obstacle);
    return found;
  }
  const Check* check = decisive_check(candidate);
  if (check == nullptr || (check->result == Answer::unknown && !candidate.uncertain)) {
    // It fits, and is not the first choice.
    std::vector<std::string> unserved;
    for (const Check& one : candidate.checks)
      if (const std::string cards = values_of(one, Key::unserved); !cards.empty()) unserved.push_back(cards);
    if (!unserved.empty()) found.reason = "no code for compute " + join(unserved, ", ");
    if (candidate.behind_releases) found.reason = "a prerelease; name it to get it";
    return found;
  }
  found.code = check->code;
  found.reason =
      printable_line(check->result == Answer::unknown ? "not certain: " + check->source : reason_of(*check));
  return found;
}

std::optional<PassedOver> update_of(const Plan& plan, const Candidate& taken) {
  // Another build than the first may have been taken: a newer one, or the update itself.
  if (!plan.update || compare_versions(plan.update->version, taken.build->version) <= 0) return std::nullopt;
  const auto found = std::ranges::find(plan.candidates, plan.update, &Candidate::build);
  if (found == plan.candidates.end() || found->verdict != Verdict::fits) return std::nullopt;
  if (plan.request.held == taken.build->id)
    return PassedOver{&*found, Code::none,
                      "rolled back (engine-cache update --install " + plan.request.engine + ")"};
  return PassedOver{&*found, Code::none, "not installed (--update open)"};
}

std::optional<PassedOver> better_build(const Plan& plan) {
  const auto chosen = std::ranges::find(plan.candidates, Verdict::chosen, &Candidate::verdict);
  if (chosen == plan.candidates.end()) return std::nullopt;
  const Candidate* best = nullptr;
  // One that fits here too is ranked lower by something that needs no explanation.
  for (const Candidate& candidate : plan.candidates)
    if (candidate.merit < chosen->merit && !is_out_of_question(candidate) &&
        !is_no_advice(candidate, *chosen) && !why_passed_over(candidate).reason.empty())
      prefer(candidate, best);
  // One command gets the update. Only a build for a better device is worth more than that.
  const auto update = update_of(plan, *chosen);
  if (update &&
      (best == nullptr || lacks_hardware(*best) || best->merit.is_cpu >= update->candidate->merit.is_cpu))
    return update;
  return best != nullptr ? std::optional(why_passed_over(*best)) : std::nullopt;
}

std::optional<PassedOver> nearest_build(const Plan& plan) {
  if (plan.candidates.empty()) return std::nullopt;
  const auto fitting = std::ranges::find_if(plan.candidates, [](const Candidate& candidate) {
    return !lacks_hardware(candidate) && !is_out_of_question(candidate);
  });
  PassedOver nearest = why_passed_over(fitting != plan.candidates.end() ? *fitting : plan.candidates.front());
  const manifest::Build& build = *nearest.candidate->build;
  const std::string name = printable_line(build.version + " " + build.flavor);
  if (nearest.code == Code::no_plugin_for_build) nearest.reason = name + ": " + nearest.reason;
  if (nearest.code == Code::quarantined) nearest.reason = name + " is " + nearest.reason;
  return nearest;
}

std::vector<PassedOver> newer_passed_over(const Plan& plan, const Candidate& taken) {
  const auto is_newer = [](const std::string& left, const std::string& right) {
    return compare_versions(left, right) > 0;
  };
  std::map<std::string, const Candidate*, decltype(is_newer)> versions(is_newer);
  for (const Candidate& candidate : plan.candidates)
    if (is_newer(candidate.build->version, taken.build->version) && !is_out_of_question(candidate))
      prefer(candidate, versions[candidate.build->version]);
  const auto update = update_of(plan, taken);
  const auto waits = [&](const Candidate& candidate) {
    return plan.request.update != Update::open && candidate.merit < taken.merit &&
           plan.request.installed_here.contains(taken.build->id) &&
           !plan.request.installed.contains(candidate.build->id);
  };
  std::vector<PassedOver> found;
  if (update) found.push_back(*update);
  for (const auto& [version, best] : versions) {
    if (update && update->candidate == best) continue;
    PassedOver one = why_passed_over(*best);
    const bool fits = one.reason.empty() && best->rank != 0;
    const bool only_processor = main_device(*best->build) == "cpu" && main_device(*taken.build) != "cpu";
    if (fits && plan.request.force == taken.build->id)
      one.reason = "another build is forced";
    else if (fits && (waits(*best) || plan.request.held == taken.build->id))
      continue;  // the update is newer, or nothing is to be reported
    else if (fits)
      one.reason = only_processor ? "for the processor only" : "not as requested";
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace enginehost::resolve
