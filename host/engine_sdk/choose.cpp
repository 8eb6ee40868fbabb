#include "host/engine_sdk/choose.hpp"

#include <algorithm>

#include "base/version.hpp"
#include "base/version_specifier.hpp"
#include "host/acquire/component.hpp"
#include "host/catalog/repositories.hpp"
#include "host/context/request.hpp"
#include "host/engine_sdk/cmake_package.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::engine_sdk {
namespace {

using manifest::Build;

// The flavor of the part that works on processors. Other parts need libraries of a vendor's toolkit to link.
constexpr std::string_view served_flavor = "cpu";
constexpr std::string_view served_system = "linux";

bool is_for(const Build& build, const platform::Platform& machine) {
  return build.os == machine.os.value() && build.arch == machine.arch.value();
}

// Returns why no SDK can be made of a build for this machine; empty if one can.
std::string obstacle_of(const Build& build, const settings::Policy& policy) {
  if (!build.yanked.empty()) return "withdrawn: " + build.yanked;
  if (const std::string* range = settings::excluding_range(policy, build.engine, build.version))
    return "the policy allows version " + *range + " (" + policy.file + ")";
  if (!build.blocked.empty()) return "blocked: " + build.blocked;
  if (!build.expired.empty()) return "its repository expired on " + build.expired;
  const Parts parts = parts_of_sdk(build);
  if (!package_of(build.engine)->headers_in_archive.empty() && !parts.has_headers)
    return "its manifest names no headers";
  for (const manifest::Component* component : parts.build.all_components())
    if (acquire::first_usable(*component) == nullptr) return component->id + " has no source";
  return {};
}

bool goes_before(const Build& left, const Build& right) {
  if (const auto order = compare_versions(left.version, right.version); order != 0) return order > 0;
  return left.priority > right.priority;
}

Diagnosis no_such_version(const resolve::Request& request, const std::vector<std::string>& offered,
                          const std::vector<std::string>& obstacles) {
  Diagnosis diagnosis = diagnose(Code::sdk_version_missing).with(Key::engine, request.engine, "request");
  if (!request.version.empty()) diagnosis.with(Key::version, request.version, "request");
  for (const std::string& obstacle : obstacles) diagnosis.with(Key::obstacle, obstacle, "repositories");
  for (const std::string& version : offered) diagnosis.with(Key::offered, version, "repositories");
  return diagnosis;
}

}  // namespace

Parts parts_of_sdk(const Build& build) {
  auto manifest = std::make_shared<manifest::Manifest>();
  Parts parts{manifest, build, false};
  parts.build.manifest = manifest;
  parts.build.plugin_component.clear();
  const auto owner = build.manifest.lock();
  if (owner == nullptr) return parts;
  manifest->repository = owner->repository;
  manifest->signed_by = owner->signed_by;
  manifest->licenses = owner->licenses;
  for (const std::string& id : build.components) {
    const manifest::Component& component = owner->components.at(id);
    manifest->components.emplace(id, component);
    manifest::Component headers = component;
    headers.id = id + "-headers";
    headers.artifacts.clear();
    for (const manifest::Artifact& artifact : component.artifacts)
      if (artifact.headers) headers.artifacts.push_back(*artifact.headers);
    if (headers.artifacts.empty()) continue;
    parts.has_headers = true;
    parts.build.components.push_back(headers.id);
    manifest->components.emplace(headers.id, std::move(headers));
  }
  return parts;
}

Result<std::shared_ptr<const Build>> choose_build(open::OpenContext& context,
                                                  const resolve::Request& request) {
  context.need_engine(request.engine);
  const auto& builds = context.catalog().builds;
  if (std::ranges::none_of(builds, [&](const auto& build) { return build->engine == request.engine; })) {
    TRY_ASSIGN(resolve::Plan plan, open::decide(context, request));
    auto reason = catalog::why_nothing_is_known(context.catalog(), plan);
    return fail(reason ? std::move(*reason)
                       : diagnose(Code::engine_unknown).with(Key::engine, request.engine, "request"));
  }
  if (package_of(request.engine) == nullptr)
    return fail(diagnose(Code::sdk_missing).with(Key::engine, request.engine, "request"));
  const platform::Platform& machine = context.platform();
  if (const std::string& system = machine.os.value(); system != served_system)
    return fail(
        diagnose(Code::sdk_missing).with(Key::engine, request.engine, "request").with(Key::system, system));

  const VersionSpecifier wanted(request.version);
  std::shared_ptr<const Build> best;
  std::vector<std::string> offered, obstacles;
  for (const auto& build : builds) {
    if (build->engine != request.engine || build->flavor != served_flavor || build->in_place ||
        !is_for(*build, machine))
      continue;
    const bool accepted =
        wanted.accepts(build->version) && (wanted.names_prerelease() || !is_prerelease(build->version));
    if (std::string obstacle = obstacle_of(*build, context.settings().policy); !obstacle.empty()) {
      if (accepted) obstacles.push_back(build->id + ": " + obstacle);
      continue;
    }
    offered.push_back(build->version);
    if (accepted && (best == nullptr || goes_before(*build, *best))) best = build;
  }
  if (best != nullptr) return best;
  std::ranges::sort(offered, [](const std::string& left, const std::string& right) {
    return compare_versions(left, right) > 0;
  });
  offered.erase(std::unique(offered.begin(), offered.end()), offered.end());
  return fail(no_such_version(request, offered, obstacles));
}

}  // namespace enginehost::engine_sdk
