#include "host/resolve/passed_over.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/platform/driver_state.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/describe.hpp"

namespace enginehost::resolve {
namespace {

// Returns the machine's accelerator that a build for `device` would use; empty: none is known.
std::string accelerator_for(std::string_view device, const platform::Platform& machine) {
  const auto& cuda = machine.cuda;
  if (device == "cuda" && cuda.devices.is_known() && !cuda.devices.value().empty())
    return cuda.devices.value().front().name;
  if (device == "cuda" && cuda.hardware.is_known()) return "NVIDIA hardware (" + cuda.hardware.value() + ")";
  if (device == "rocm" && !machine.rocm.value().gfx.empty()) return "AMD " + machine.rocm.value().gfx.front();
  if (device == "rocm") return platform::amd_cards(machine);
  if (device == "mps" && machine.metal.is_known()) return machine.metal.value().device;
  return {};
}

// Returns the accelerator that the execution provider `device` of ONNX Runtime computes on; empty: none is
// known.
std::string accelerator_for_provider(std::string_view device, const platform::Platform& machine) {
  if ((device == "coreml" || device == "webgpu") && machine.metal.is_known())
    return machine.metal.value().device;
  if (!machine.other_gpus.is_known()) return {};
  for (const std::string& card : split(machine.other_gpus.value(), ',')) {
    const bool is_intel = trim(card).starts_with("Intel ");
    if (device == "dml" || device == "webgpu" || (device == "openvino" && is_intel))
      return std::string(trim(card));
  }
  return {};
}

// Returns all accelerators of the machine: "NVIDIA GeForce RTX 4090, Intel 8086:56a0".
std::string accelerators_of(const platform::Platform& machine) {
  std::vector<std::string> found;
  for (const char* device : {"cuda", "rocm", "mps"})
    if (std::string one = accelerator_for(device, machine); !one.empty()) found.push_back(std::move(one));
  if (machine.other_gpus.is_known()) {
    // AMD's cards are named already.
    for (const std::string& card : split(machine.other_gpus.value(), ','))
      if (const std::string name(trim(card)); !name.starts_with("AMD ")) found.push_back(name);
  }
  return join(found, ", ");
}

bool asks_for_the_processor(const Request& request) {
  const std::string_view first = std::string_view(request.device).substr(0, request.device.find(','));
  return request.flavor == "cpu" || first.starts_with("cpu") || !request.force.empty();
}

// Returns "cuda" for "cuda:0,cpu", if a CPU build is opened; empty if the request lists nothing before the
// CPU.
std::string requested_first(const Request& request) {
  const std::string kind = request.device.substr(0, request.device.find_first_of(":,"));
  return request.device.find(',') == std::string::npos || kind == "cpu" ? std::string() : kind;
}

// These builds would need another request or another system, so nobody misses them.
bool is_beside_the_point(Code code) {
  return code == Code::build_for_other_system || code == Code::other_flavor_required ||
         code == Code::other_version_requested || code == Code::device_not_offered ||
         code == Code::build_withdrawn;
}

// The candidate fits, but is ranked behind releases only because it is a prerelease, and has the requested
// flavor.
bool only_wants_to_be_named(const Candidate& candidate, const Request& request) {
  return candidate.behind_releases && (request.flavor.empty() || request.flavor == candidate.build->flavor);
}

std::string text_of(const Check& check) {
  if (check.code == Code::no_plugin_for_build && !check.evidence.empty()) return check.evidence.front().value;
  return check.result == Answer::unknown
             ? "it is not known whether " + check.requirement + " holds (" + check.source + ")"
             : "it " + needs_and_found(check);
}

// Returns EH-S27 if the request names GPUs that the build has no code for, after one that it has code for.
std::optional<Diagnosis> unserved_device(const Plan& plan, const manifest::Build& taken) {
  for (const Candidate& candidate : plan.candidates) {
    if (candidate.build->id != taken.id) continue;
    Diagnosis diagnosis = diagnose(Code::no_code_for_requested_device);
    for (const Check& check : candidate.checks)
      for (const Evidence& fact : check.evidence)
        if (fact.what == Key::unserved_device) diagnosis.with(Key::device, fact.value, fact.source);
    if (diagnosis.evidence.empty()) return std::nullopt;
    return diagnosis.with(Key::build, taken.id, "catalog")
        .with(Key::request, plan.request.device, "request")
        .with(Key::engine, taken.engine);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> idle_accelerator(const Plan& plan, const platform::Platform& machine,
                                          const manifest::Build& taken) {
  if (main_device(taken) == "cuda") return unserved_device(plan, taken);
  if (main_device(taken) != "cpu" || asks_for_the_processor(plan.request)) return std::nullopt;
  struct Missed {
    const Candidate* candidate = nullptr;
    const Check* check = nullptr;  // none: it would only have to be named
    std::string accelerator;
  };
  std::optional<Missed> nearest;
  std::set<std::string> to_be_named;  // flavors that compute on an accelerator of this machine
  bool excluded = false;              // the request excludes builds for an accelerator of this machine
  const std::string requested = requested_first(plan.request);
  for (const Candidate& candidate : plan.candidates) {
    const std::string device(main_device(*candidate.build));
    const Check* const check = decisive_check(candidate);
    if (check != nullptr && check->code == Code::build_must_be_requested &&
        !accelerator_for_provider(device, machine).empty())
      to_be_named.insert(candidate.build->flavor);
    const std::string accelerator = accelerator_for(device, machine);
    if (accelerator.empty() && (requested.empty() || (requested != device && requested != "gpu"))) continue;
    if (candidate.verdict == Verdict::failed || candidate.verdict == Verdict::quarantined ||
        candidate.verdict == Verdict::disabled)
      return std::nullopt;
    const bool requested_device =
        !requested.empty() && check != nullptr && check->code == Code::device_not_offered;
    if (check != nullptr ? is_beside_the_point(check->code) && !requested_device
                         : !only_wants_to_be_named(candidate, plan.request)) {
      excluded = excluded || check == nullptr || check->code != Code::build_for_other_system;
      continue;
    }
    // A build that was never compiled is named last.
    const auto never_compiled = [](const Check* why) {
      return why != nullptr && why->code == Code::no_plugin_for_build;
    };
    if (!nearest || (never_compiled(nearest->check) && !never_compiled(check)))
      nearest = Missed{&candidate, check, accelerator};
  }
  Diagnosis diagnosis = diagnose(Code::accelerator_not_used);
  if (!nearest) {
    const std::string accelerators = accelerators_of(machine);
    const bool computes_only_on_processors =
        std::all_of(plan.candidates.begin(), plan.candidates.end(),
                    [](const Candidate& candidate) { return main_device(*candidate.build) == "cpu"; });
    if (excluded || accelerators.empty() || computes_only_on_processors) return std::nullopt;
    diagnosis.with(Key::accelerator, accelerators, "this machine").with(Key::build, taken.id, "catalog");
    if (!to_be_named.empty())
      return diagnosis
          .with(Key::reason,
                "a build that may use it is opened only if the request names its flavor (" +
                    join({to_be_named.begin(), to_be_named.end()}, ", ") + ")",
                "repositories")
          .with(Key::to_be_named, *to_be_named.begin(), "repositories")
          .with(Key::engine, taken.engine);
    return diagnosis
        .with(Key::reason, "no build of " + taken.engine + " for this system uses it", "repositories")
        .with(Key::engine, taken.engine);
  }
  const manifest::Build& missed = *nearest->candidate->build;
  if (!nearest->accelerator.empty()) diagnosis.with(Key::accelerator, nearest->accelerator, "this machine");
  if (!requested.empty()) diagnosis.with(Key::device, requested, "request");
  diagnosis.with(Key::build, taken.id, "catalog");
  diagnosis.with(Key::nearest, missed.id, "catalog");
  if (const Check* const check = nearest->check) {
    diagnosis.with(Key::reason, text_of(*check));
    if (check->code != Code::none) diagnosis.with(Key::first_code, check->code, check->source);
  } else {
    diagnosis.with(Key::reason, "it is a prerelease, and is used only if the request names it");
    diagnosis.with(Key::named, missed.engine + (is_version(missed.version) ? "@" : "@===") + missed.version,
                   "catalog");
  }
  diagnosis.with(Key::engine, taken.engine);
  return diagnosis;
}

}  // namespace enginehost::resolve
