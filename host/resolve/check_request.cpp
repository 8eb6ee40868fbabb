#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::Build;
using platform::Platform;

bool is_wanted_version(const std::string& version, const std::string& wanted) {
  if (wanted.empty()) return true;
  if (wanted.find_first_of("<>=") != std::string::npos) return satisfies(version, wanted);
  return has_version_prefix(version, wanted);
}

// One check for both: a build is for one kind of machine.
Check system_check(const Build& build, const Platform& machine) {
  const auto differs = [](const platform::Fact<std::string>& fact, const std::string& wanted) {
    return fact.is_absent() || (fact.is_known() && fact.value() != wanted);
  };
  std::string requirement = "system " + build.os + " " + build.arch;
  const bool known = machine.os.is_known() && machine.arch.is_known();
  if (!known && !differs(machine.os, build.os) && !differs(machine.arch, build.arch))
    return unanswered(std::move(requirement),
                      machine.os.is_unknown() ? machine.os.why() : machine.arch.why());
  const bool holds = !differs(machine.os, build.os) && !differs(machine.arch, build.arch);
  std::string observed = machine.os.is_known() ? machine.os.value() : "unknown";
  observed += ' ';
  observed += machine.arch.is_known() ? machine.arch.value() : "unknown";
  return answered(std::move(requirement), std::move(observed), machine.os.source(), holds, "EH-S03");
}

// Calls `use` for the plugin's component and the others; stops at the first for which it is true, and returns
// that.
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

// A component that cannot be had without a network: none of its alternatives is a file.
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

bool offers(const Build& build, std::string_view kind) {
  bool lists_devices = false;
  for (const std::string& capability : build.capabilities) {
    if (!capability.starts_with("device.")) continue;
    lists_devices = true;
    if (std::string_view(capability).substr(7) == kind) return true;
  }
  if (kind == main_device(build)) return true;
  // An engine for an accelerator computes on the processor too, unless its manifest lists its devices.
  return !lists_devices && kind == "cpu";
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
  return "cpu";
}

std::vector<std::string> devices_of(const std::string& request) {
  std::vector<std::string> devices;
  for (const std::string& part : split(request, ','))
    if (const std::string_view device = trim(part); !device.empty()) devices.emplace_back(device);
  return devices;
}

bool check_request(const Build& build, const Machine& machine, const Request& request, Checks& checks) {
  const auto stop_at = [&](Check check) {
    checks.push_back(std::move(check));
    return checks.back().result == Answer::no;
  };
  if (stop_at(system_check(build, machine.platform))) return false;
  if (!request.version.empty() &&
      stop_at(answered("version " + request.version, build.version, "manifest",
                       is_wanted_version(build.version, request.version), "EH-S05")))
    return false;
  return !(request.require && !request.flavor.empty() &&
           stop_at(answered("flavor " + request.flavor, build.flavor, "manifest",
                            build.flavor == request.flavor, "EH-S04")));
}

void check_availability(const Build& build, const Request& request, Checks& checks) {
  const auto refuse = [&](const char* requirement, std::string observed, const char* code,
                          std::vector<Evidence> evidence) {
    checks.push_back(answered(requirement, std::move(observed), "manifest", false, code));
    checks.back().evidence = std::move(evidence);
  };
  if (!build.yanked.empty())
    refuse("not withdrawn", build.yanked, "EH-S11", {{"reason", build.yanked, "manifest"}});
  if (request.installed.contains(build.id)) return;
  if (!build.not_built.empty())
    return refuse("a compiled plugin", "not compiled", "EH-S12",
                  {{"reason", "it was not part of this build of EngineHost", "manifest"},
                   {"how", build.not_built, "manifest"}});
  const auto owner = build.manifest.lock();
  if (const manifest::Component* component = first_component(build, owner.get(), lacks_digest))
    return refuse("a known sha256 of every component", component->id + " has none", "EH-S10",
                  {{"component", component->id, "manifest"}});
  if (!request.offline) return;
  const bool is_folder = owner != nullptr && owner->repository.find("://") == std::string::npos;
  const auto is_far = [&](const manifest::Component& component) {
    return lies_behind_network(component, is_folder);
  };
  if (const manifest::Component* component = first_component(build, owner.get(), is_far))
    refuse("installed, or all of it in files (offline)", component->id + " would have to be fetched",
           "EH-S13", {{"component", component->id, "manifest"}});
}

void check_device(const Build& build, const Machine& machine, const Request& request, Checks& checks) {
  const std::vector<std::string> wanted = devices_of(request.device);
  if (wanted.empty()) return;
  std::string reason;
  for (const std::string& device : wanted) {
    const std::size_t colon = device.find(':');
    const std::string kind = device.substr(0, colon);
    if (!offers(build, kind)) {
      reason += (reason.empty() ? "" : "; ") + std::string("flavor ") + build.flavor + " has no " + kind;
      continue;
    }
    const auto index = colon == std::string::npos ? std::nullopt : parse_integer(device.substr(colon + 1));
    const bool judged =
        kind == "cuda" && index && machine.platform.cuda.devices.is_known() && machine.visible.certain;
    if (judged && *index >= static_cast<std::int64_t>(machine.visible.devices.size())) {
      reason += (reason.empty() ? "" : "; ") + std::string("there are ") +
                std::to_string(machine.visible.devices.size()) + " visible devices";
      continue;
    }
    checks.push_back(answered("device " + request.device, device, "manifest", true, ""));
    return;
  }
  checks.push_back(answered("device " + request.device, reason, "manifest", false, "EH-S09"));
  checks.back().evidence = {{"device", request.device, "request"}, {"reason", reason, "manifest"}};
}

}  // namespace enginehost::resolve
