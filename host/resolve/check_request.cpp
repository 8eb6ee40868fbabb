#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {
namespace {

using manifest::Build;

bool is_wanted_version(const std::string& version, const std::string& wanted) {
  if (wanted.empty()) return true;
  if (wanted.find_first_of("<>=") != std::string::npos) return satisfies(version, wanted);
  return has_version_prefix(version, wanted);
}

Check same_text(const char* what, const std::string& wanted, const platform::Fact<std::string>& fact,
                std::string_view code) {
  std::string requirement = std::string(what) + " " + wanted;
  if (fact.is_unknown()) return unanswered(std::move(requirement), fact.why());
  const bool holds = fact.is_known() && fact.value() == wanted;
  return answered(std::move(requirement), fact.is_known() ? fact.value() : "none", fact.source(), holds,
                  code);
}

// The first reason why the bytes of a component could not be had; empty when they could.
const manifest::Component* component_without_digest(const Build& build) {
  for (const manifest::Component* component : build.all_components())
    if (std::none_of(component->artifacts.begin(), component->artifacts.end(),
                     [](const manifest::Artifact& artifact) { return !artifact.sha256.empty(); }))
      return component;
  return nullptr;
}

// A component that cannot be had without a network: none of its alternatives is a file.
const manifest::Component* component_behind_network(const Build& build) {
  const auto owner = build.manifest.lock();
  const bool in_folder = owner != nullptr && owner->repository.find("://") == std::string::npos;
  const auto is_at_hand = [&](const manifest::Source& source) {
    return source.kind == manifest::Source::Kind::file && (in_folder || source.location.starts_with('/'));
  };
  for (const manifest::Component* component : build.all_components())
    if (std::none_of(
            component->artifacts.begin(), component->artifacts.end(), [&](const manifest::Artifact& one) {
              return !one.sha256.empty() && std::any_of(one.sources.begin(), one.sources.end(), is_at_hand);
            }))
      return component;
  return nullptr;
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
  if (stop_at(same_text("operating system", build.os, machine.platform.os, "EH-S03"))) return false;
  if (stop_at(same_text("processor architecture", build.arch, machine.platform.arch, "EH-S03"))) return false;
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
  if (const manifest::Component* component = component_without_digest(build))
    return refuse("a known sha256 of every component", component->id + " has none", "EH-S10",
                  {{"component", component->id, "manifest"}});
  if (!request.offline) return;
  if (const manifest::Component* component = component_behind_network(build))
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
