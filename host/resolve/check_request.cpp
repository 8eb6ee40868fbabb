#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/manifest/repository.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::Build;
using platform::Platform;

// One check for both, because a build is for one kind of machine.
bool check_kind_of_system(const Build& build, const Platform& machine, Checks& checks) {
  const auto differs = [](const platform::Fact<std::string>& fact, const std::string& wanted) {
    return fact.is_absent() || (fact.is_known() && fact.value() != wanted);
  };
  const auto text_of = [](const platform::Fact<std::string>& fact) {
    return fact.is_known() ? fact.value() : "unknown";
  };
  const std::string requirement = "system " + build.os + " " + build.arch;
  const bool known = machine.os.is_known() && machine.arch.is_known();
  const bool holds = !differs(machine.os, build.os) && !differs(machine.arch, build.arch);
  if (!known && holds)
    note_unknown(checks, requirement, machine.os.is_unknown() ? machine.os.why() : machine.arch.why());
  else
    note(checks, holds, Code::build_for_other_system,
         reported(requirement, text_of(machine.os) + " " + text_of(machine.arch), machine.os.source()));
  return holds;
}

// Calls `use` for the plugin's component and then the others. Returns the first for which it is true.
template <class Use>
const manifest::Component* first_component(const Build& build, const manifest::Manifest* owner, Use use) {
  if (owner == nullptr) return nullptr;
  const auto matches = [&](const std::string& id) -> const manifest::Component* {
    const auto found = owner->components.find(id);
    return found != owner->components.end() && use(found->second) ? &found->second : nullptr;
  };
  if (const auto* component = matches(build.plugin_component)) return component;
  for (const std::string& id : build.components)
    if (const auto* component = matches(id)) return component;
  return nullptr;
}

bool lacks_digest(const manifest::Component& component) {
  return std::none_of(component.artifacts.begin(), component.artifacts.end(),
                      [](const manifest::Artifact& artifact) { return !artifact.sha256.empty(); });
}

// Returns true if the component needs a network: none of its alternatives is a file.
bool lies_behind_network(const manifest::Component& component, bool repository_is_folder) {
  const auto is_at_hand = [&](const manifest::Source& source) {
    return source.kind == manifest::Source::Kind::file &&
           (repository_is_folder || source.location.starts_with('/'));
  };
  return std::none_of(
      component.artifacts.begin(), component.artifacts.end(), [&](const manifest::Artifact& one) {
        return !one.sha256.empty() && std::any_of(one.sources.begin(), one.sources.end(), is_at_hand);
      });
}

void refuse(Checks& checks, Code code, std::string requirement, std::string observed,
            std::vector<Evidence> evidence) {
  Check check = reported(std::move(requirement), std::move(observed), "manifest");
  check.evidence = std::move(evidence);
  note(checks, Answer::no, code, std::move(check));
}

// Returns the command that fetches exactly this build on a machine with a network.
std::string fetch_command(const Build& build) {
  return "engine-cache fetch " + build.engine + (is_version(build.version) ? "@" : "@===") + build.version +
         " --flavor " + build.flavor;
}

bool offers(const Build& build, std::string_view kind) {
  if (kind == "gpu") return main_device(build) != "cpu";
  bool lists_devices = false;
  for (const std::string& capability : build.capabilities) {
    if (!capability.starts_with("device.")) continue;
    lists_devices = true;
    if (std::string_view(capability).substr(7) == kind) return true;
  }
  if (kind == main_device(build)) return true;
  // An engine for an accelerator also computes on the CPU, unless its manifest lists its devices.
  return !lists_devices && kind == "cpu";
}

// Execution providers of ONNX Runtime that a build has beside the CPU. EngineHost's tests never ran one on an
// accelerator, and a machine without one would download more for nothing, so such a build has to be
// requested.
constexpr std::string_view execution_providers[] = {"coreml",   "dml", "ggml",  "nv-tensorrt-rtx",
                                                    "openvino", "qnn", "webgpu"};

// Returns " (CUDA_VISIBLE_DEVICES="0")" if the variable leaves fewer devices than there are.
std::string because_of_variable(const platform::Cuda& cuda) {
  const auto& variable = cuda.visible_devices;
  return variable.is_known() ? " (" + variable.source() + "=\"" + variable.value() + "\")" : "";
}

}  // namespace

std::string_view main_device(const Build& build) {
  const std::string& flavor = build.flavor;
  if (build.requires_.cuda ||
      (flavor.starts_with("cu") && flavor.size() > 2 && flavor[2] >= '0' && flavor[2] <= '9'))
    return "cuda";
  if (build.requires_.rocm || flavor.starts_with("rocm")) return "rocm";
  if (build.requires_.metal || flavor.starts_with("mps") || flavor.starts_with("metal")) return "mps";
  for (const char* other : {"xpu", "vulkan", "directml", "cann", "tpu"})
    if (flavor.starts_with(other)) return other;
  for (const std::string_view provider : execution_providers)
    if (flavor == provider) return provider;
  return "cpu";
}

bool has_to_be_requested(const Build& build, const Question& question) {
  const Request& request = question.request;
  const std::string_view provider = main_device(build);
  return std::ranges::find(execution_providers, provider) != std::end(execution_providers) &&
         request.flavor != build.flavor && request.force != build.id &&
         std::none_of(question.devices.begin(), question.devices.end(), [&](const std::string& device) {
           return std::string_view(device).substr(0, device.find(':')) == provider;
         });
}

bool offers_one_of(const Build& build, const std::vector<std::string>& devices) {
  return std::ranges::any_of(devices, [&](const std::string& device) {
    return offers(build, std::string_view(device).substr(0, device.find(':')));
  });
}

std::vector<std::string> devices_of(const std::string& request) {
  std::vector<std::string> devices;
  for (const std::string& part : split(request, ','))
    if (const std::string_view device = trim(part); !device.empty()) devices.emplace_back(device);
  return devices;
}

bool check_request(const Build& build, const Question& question, Checks& checks) {
  const Request& request = question.request;
  if (!check_kind_of_system(build, question.machine.platform, checks)) return false;
  if (!request.version.empty()) {
    const bool holds = question.version.accepts(build.version);
    note(checks, holds, Code::other_version_requested,
         reported("version " + request.version, build.version, "manifest"));
    if (!holds) return false;
  }
  if (request.require && !request.flavor.empty()) {
    const bool holds = build.flavor == request.flavor;
    Check& check = note(checks, holds, Code::other_flavor_required,
                        reported("flavor " + request.flavor, build.flavor, "manifest"));
    if (!request.flavor_source.empty())
      check.evidence = {{Key::demanded_by, request.flavor_source, "request"}};
    if (!holds) return false;
  }
  if (!has_to_be_requested(build, question)) return true;
  note(checks, Answer::no, Code::build_must_be_requested,
       reported("a request for flavor " + build.flavor,
                request.flavor.empty() ? "no flavor" : "flavor " + request.flavor, "request"));
  return false;
}

void check_availability(const Build& build, const Question& question, Checks& checks) {
  const Request& request = question.request;
  if (!build.yanked.empty())
    refuse(checks, Code::build_withdrawn, "not withdrawn", build.yanked,
           {{Key::reason, build.yanked, "manifest"}});
  // It counts for installed builds too, and force does not override it.
  if (!question.allowed.accepts(build.version))
    refuse(checks, Code::version_not_allowed, "version " + request.allowed_versions + " (policy)",
           build.version,
           {{Key::range, request.allowed_versions, "policy"}, {Key::file, request.allowed_by, "policy"}});
  if (!build.blocked.empty())
    refuse(checks, Code::build_blocked, "not blocked", build.blocked,
           {{Key::reason, build.blocked, "index"}});
  if (build.in_place) {
    const manifest::InPlace& installation = *build.in_place;
    std::vector<std::string> signs;
    for (const manifest::InstallationSign& one : installation.found)
      signs.push_back(one.what + " " + one.value);
    const auto& problem = installation.problem;
    Check& check =
        note(checks, !problem, problem ? problem->code : Code::none,
             reported("an installation that can be opened in place", installation.path, join(signs, ", ")));
    if (problem) check.evidence = problem->evidence;
    if (problem) return;
  }
  if (request.installed.contains(build.id)) return;
  if (!build.expired.empty())
    refuse(checks, Code::index_expired, "installed, or listed by an index that has not expired",
           "expired " + build.expired,
           {{Key::expired, build.expired, "index"},
            {Key::clock, text_of_time(question.now), "this machine's clock"}});
  if (!build.not_built.empty())
    return refuse(checks, Code::no_plugin_for_build, "a plugin", "none",
                  {{Key::reason, build.not_built, "manifest"}});
  const auto owner = build.manifest.lock();
  if (const manifest::Component* component = first_component(build, owner.get(), lacks_digest))
    return refuse(checks, Code::build_without_digest, "a known sha256 of every component",
                  component->id + " has none", {{Key::component, component->id, "manifest"}});
  if (!request.offline) return;
  const bool is_folder = owner != nullptr && owner->repository.find("://") == std::string::npos;
  const auto is_far = [&](const manifest::Component& component) {
    return lies_behind_network(component, is_folder);
  };
  if (const manifest::Component* component = first_component(build, owner.get(), is_far))
    refuse(checks, Code::not_installed_and_offline, "installed, or all of it in files (offline)",
           component->id + " would have to be fetched",
           {{Key::component, component->id, "manifest"}, {Key::command, fetch_command(build), "manifest"}});
}

void check_device(const Build& build, const Question& question, Checks& checks) {
  const Request& request = question.request;
  const Machine& machine = question.machine;
  if (question.devices.empty()) return;
  const std::size_t visible = machine.visible.devices.size();
  // Returns why this build cannot use the device on this machine; empty if it can.
  const auto problem_of = [&](const std::string& device) -> std::string {
    const std::size_t colon = device.find(':');
    const std::string kind = device.substr(0, colon);
    if (!offers(build, kind))
      return "flavor " + build.flavor + (kind == "gpu" ? " is for the processor" : " has no " + kind);
    const auto index = colon == std::string::npos ? std::nullopt : parse_integer(device.substr(colon + 1));
    const bool judged =
        kind == "cuda" && index && machine.platform.cuda.devices.is_known() && machine.visible.certain;
    if (judged && *index >= static_cast<std::int64_t>(visible))
      return (visible == 1 ? "there is " : "there are ") +
             pluralize(visible, "visible device", "visible devices") +
             because_of_variable(machine.platform.cuda);
    return {};
  };
  std::vector<std::string> reasons;
  std::string passed_over;
  for (const std::string& device : question.devices) {
    reasons.push_back(problem_of(device));
    if (reasons.back().empty()) {
      note(checks, true, {}, reported("device " + request.device, device + passed_over, "manifest"));
      return;
    }
    passed_over += (passed_over.empty() ? "; not " : ", ") + device + ": " + reasons.back();
  }
  const std::string reason = join(reasons, "; ");
  Check& check = note(checks, Answer::no, Code::device_not_offered,
                      reported("device " + request.device, reason, "manifest"));
  check.evidence = {{Key::device, request.device, "request"}, {Key::reason, reason, "manifest"}};
  if (!request.device_source.empty())
    check.evidence.push_back({Key::device_set_by, request.device_source, "request"});
}

}  // namespace enginehost::resolve
