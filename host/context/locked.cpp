#include "host/context/locked.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/version_specifier.hpp"
#include "cache/installed.hpp"
#include "host/acquire/description.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::open {
namespace {

using manifest::Build;
using manifest::Component;

const std::string& published_id(const Build& build) {
  return build.published_id.empty() ? build.id : build.published_id;
}

std::string platform_of(const Build& build) { return build.os + "-" + build.arch; }

// An installed build that no repository lists comes from where its record says.
std::string repository_of(const OpenContext& context, const Build& build) {
  const auto owner = build.manifest.lock();
  if (owner && !owner->repository.empty()) return owner->repository;
  const auto record = context.store().record_of(build.id);
  return record && *record ? (*record)->origin : std::string();
}

std::string version_text(const std::string& version, const std::string& cxx11_abi) {
  return (version.empty() ? "no version" : "version " + version) +
         (cxx11_abi.empty() ? "" : " and C++ ABI " + cxx11_abi);
}

std::string digests_text(const std::vector<std::string>& digests) {
  return digests.empty() ? "no digest" : "SHA-256 " + join(digests, " or ");
}

struct Difference {
  std::string component, want, have;
};

// Compares by digest if the lock has digests: every archive that may be fetched must be a locked one.
std::optional<Difference> difference(const LockedComponent& locked, const Component& offered) {
  if (locked.archives.empty()) {
    // The ABI of a plugin is unknown where it is not compiled.
    if (locked.version == offered.version &&
        (locked.cxx11_abi.empty() || locked.cxx11_abi == offered.cxx11_abi))
      return std::nullopt;
    return Difference{locked.name, version_text(locked.version, locked.cxx11_abi),
                      version_text(offered.version, offered.cxx11_abi)};
  }
  std::vector<std::string> want, have;
  for (const LockedComponent::Archive& archive : locked.archives) want.push_back(archive.sha256);
  for (const manifest::Artifact& artifact : offered.artifacts)
    if (!artifact.sha256.empty()) have.push_back(artifact.sha256);
  const bool all_locked = std::ranges::all_of(
      have, [&](const std::string& digest) { return std::ranges::find(want, digest) != want.end(); });
  if (all_locked && !have.empty()) return std::nullopt;
  return Difference{locked.name, digests_text(want), digests_text(have)};
}

std::optional<Difference> difference(const LockedBuild& locked, const Build& offered) {
  const std::vector<const Component*> components = offered.all_components();
  for (const LockedComponent& one : locked.components) {
    const auto same = std::ranges::find(components, one.name, &Component::id);
    if (same == components.end()) return Difference{one.name, "this component", "no such component"};
    if (auto differs = difference(one, **same)) return differs;
  }
  for (const Component* component : components)
    if (std::ranges::find(locked.components, component->id, &LockedComponent::name) ==
        locked.components.end())
      return Difference{component->id, "no such component", "this component"};
  return std::nullopt;
}

// Returns the installed build as its record describes it, with what the repository says about it now;
// nullptr if it is not installed.
std::shared_ptr<const Build> as_installed(const OpenContext& context, const Build& listed,
                                          const std::vector<manifest::Blocked>& blocked) {
  const auto record = context.store().record_of(listed.id);
  if (!record || !*record || !(*record)->in_place.empty()) return nullptr;
  const cache::Installed& installed = **record;
  if (!installed.only_for.empty() && !settings::lists(context.settings(), installed.only_for)) return nullptr;
  const auto document = acquire::published_manifest(installed);
  if (!document) return nullptr;
  const auto owner = manifest::read_manifest(*document, "", "the record of the installed " + listed.id);
  if (!owner || (*owner)->builds.empty()) return nullptr;
  struct Copy {
    std::shared_ptr<const manifest::Manifest> owner;
    Build build;
  };
  const auto copy = std::make_shared<Copy>(Copy{*owner, *(*owner)->builds.front()});
  copy->build.id = listed.id;
  copy->build.published_id = listed.published_id;
  copy->build.yanked = listed.yanked;
  manifest::Catalog catalog;
  catalog.builds = {{copy, &copy->build}};
  catalog.blocked = blocked;
  manifest::mark(catalog, [&](const std::string&) {
    manifest::InstalledAs as{installed.trees, installed.origin, installed.signers};
    as.digests.push_back(installed.digest);
    return as;
  });
  return catalog.builds.front();
}

std::string lock_text(const OpenContext& context) { return path_text(context.settings().lock_file); }

// "onnxruntime (linux-x86_64, windows-x86_64)".
std::vector<std::string> contents_of(const LockFile& lock) {
  std::vector<std::string> engines, all;
  for (const LockedBuild& one : lock.builds)
    if (std::ranges::find(engines, one.engine) == engines.end()) engines.push_back(one.engine);
  for (const std::string& engine : engines) {
    std::set<std::string> platforms;
    for (const LockedBuild& one : lock.builds)
      if (one.engine == engine) platforms.insert(one.platform);
    all.push_back(engine + " (" + join({platforms.begin(), platforms.end()}, ", ") + ")");
  }
  return all;
}

// Returns why the request cannot have the build; empty: it can.
std::string excluded_by(const resolve::Request& request, const LockedBuild& locked) {
  if (!VersionSpecifier(request.version).accepts(locked.version)) return "version " + request.version;
  if (request.require && request.flavor != locked.flavor) return "flavor " + request.flavor;
  return {};
}

// Returns the command that adds what the request asks for.
std::string command_to_lock(const OpenContext& context, const resolve::Request& request) {
  return "engine-cache lock " +
         shell_word(request.engine + (request.version.empty() ? "" : "@" + request.version)) +
         (request.require ? " --flavor " + shell_word(request.flavor) : "") + " -o " +
         shell_word(lock_text(context));
}

Diagnosis contradiction(const OpenContext& context, const resolve::Request& request, const std::string& asked,
                        const std::vector<LockedBuild>& locked) {
  Diagnosis diagnosis = diagnose(Code::request_contradicts_lock)
                            .with(Key::lock, lock_text(context))
                            .with(Key::engine, request.engine, "request")
                            .with(Key::asked, asked, "request")
                            .with(Key::command, command_to_lock(context, request));
  for (const LockedBuild& one : locked)
    diagnosis.with(Key::locked, one.version + " " + one.flavor, lock_text(context));
  return diagnosis;
}

}  // namespace

Result<LockedBuild> locked_as(const OpenContext& context, const Build& build) {
  const bool published = is_url(repository_of(context, build));
  LockedBuild locked{platform_of(build), build.engine, published_id(build), build.version, build.flavor, {}};
  for (const Component* component : build.all_components()) {
    LockedComponent one{component->id, {}, {}};
    // A plugin that states no version is locked by its bytes.
    const bool compiled_here = !published && !component->version.empty() &&
                               (component->id == build.plugin_component || !component->stands_in_for.empty());
    if (compiled_here) {
      one.version = component->version;
      one.cxx11_abi = component->cxx11_abi;
    } else {
      for (const manifest::Artifact& artifact : component->artifacts)
        if (!artifact.sha256.empty()) one.archives.push_back({artifact.sha256, artifact.size});
      if (one.archives.empty())
        return fail(diagnose(Code::build_without_digest)
                        .with(Key::build, build.id)
                        .with(Key::component, component->id));
    }
    locked.components.push_back(std::move(one));
  }
  return locked;
}

Result<std::optional<std::vector<LockedBuild>>> find_locked(OpenContext& context,
                                                            const resolve::Request& request) {
  using Found = std::optional<std::vector<LockedBuild>>;
  const settings::Settings& settings = context.settings();
  if (settings.lock_file.empty()) return Found();
  const settings::Setting* const set = settings.find("lock");
  if (context.is_recorded() && (set == nullptr || set->source != settings::flag_of("lock"))) return Found();
  TRY_ASSIGN(const LockFile lock, read_lock(settings.lock_file));
  const std::string platform = context.platform().os.value() + "-" + context.platform().arch.value();
  std::vector<LockedBuild> of_engine, found;
  std::string excluded;
  for (const LockedBuild& one : lock.builds) {
    if (one.platform != platform || one.engine != request.engine) continue;
    of_engine.push_back(one);
    if (std::string by = excluded_by(request, one); !by.empty())
      excluded = std::move(by);
    else
      found.push_back(one);
  }
  if (!found.empty()) return Found(std::move(found));
  if (!of_engine.empty()) return fail(contradiction(context, request, excluded, of_engine));
  Diagnosis none = diagnose(Code::not_in_lock)
                       .with(Key::lock, lock_text(context))
                       .with(Key::engine, request.engine, "request")
                       .with(Key::platform, platform)
                       .with(Key::command, command_to_lock(context, request));
  for (const std::string& one : contents_of(lock)) none.with(Key::locked, one, lock_text(context));
  std::vector<std::string> engines;
  for (const LockedBuild& one : lock.builds) engines.push_back(one.engine);
  if (const auto near = nearest(request.engine, engines); near && *near != request.engine)
    none.with(Key::nearest, *near);
  return fail(std::move(none));
}

Result<manifest::Catalog> only_locked(OpenContext& context, const std::vector<LockedBuild>& locked,
                                      const resolve::Request& request) {
  manifest::Catalog catalog = context.catalog();
  std::vector<std::shared_ptr<const Build>> builds;
  for (const auto& build : catalog.builds) {
    const auto entry = std::ranges::find_if(locked, [&](const LockedBuild& one) {
      return !build->in_place && build->engine == one.engine && published_id(*build) == one.build &&
             platform_of(*build) == one.platform;
    });
    if (entry == locked.end()) {
      if (build->engine == request.engine && build->id == request.force)
        return fail(contradiction(context, request, "the build " + request.force, locked));
      if (build->engine != request.engine) builds.push_back(build);
      continue;
    }
    const auto differs = difference(*entry, *build);
    auto taken = build;
    if (differs) taken = context.is_recorded() ? nullptr : as_installed(context, *build, catalog.blocked);
    if (differs && (taken == nullptr || difference(*entry, *taken)))
      return fail(diagnose(Code::bytes_differ_from_lock)
                      .with(Key::lock, lock_text(context))
                      .with(Key::engine, build->engine)
                      .with(Key::build, build->id)
                      .with(Key::component, differs->component)
                      .with(Key::want, differs->want, lock_text(context))
                      .with(Key::have, differs->have, repository_of(context, *build))
                      .with(Key::repository, repository_of(context, *build)));
    builds.push_back(std::move(taken));
  }
  catalog.builds = std::move(builds);
  return catalog;
}

void explain_locked(const OpenContext& context, const std::vector<LockedBuild>& locked, resolve::Plan& plan) {
  if (std::ranges::any_of(plan.candidates, [](const auto& candidate) { return candidate.rank != 0; })) return;
  if (plan.candidates.empty()) {
    plan.diagnosis = diagnose(Code::locked_build_not_offered)
                         .with(Key::lock, lock_text(context))
                         .with(Key::engine, plan.request.engine, "request")
                         .with(Key::build, locked.front().build, lock_text(context));
    for (const LockedComponent& component : locked.front().components)
      plan.diagnosis->with(Key::component, component.name, lock_text(context));
    return;
  }
  for (const resolve::Candidate& candidate : plan.candidates)
    for (const resolve::Check& check : candidate.checks)
      if (check.result == resolve::Answer::no &&
          (check.code == Code::build_withdrawn || check.code == Code::build_blocked)) {
        plan.diagnosis = diagnose(Code::locked_build_forbidden)
                             .with(Key::lock, lock_text(context))
                             .with(Key::engine, plan.request.engine, "request")
                             .with(Key::build, candidate.build->id, "catalog")
                             .with(Key::first_code, check.code, check.source)
                             .with(Key::reason, check.observed, check.source);
        return;
      }
}

}  // namespace enginehost::open
