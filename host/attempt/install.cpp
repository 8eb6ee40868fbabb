#include "host/attempt/install.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::open {
namespace {

// A request that was declined or canceled fetched nothing.
bool asked_somebody(const Diagnosis& failure) {
  return failure.code.starts_with("EH-N") || !failure.values("source_tried").empty();
}

Json fetch_failed(const manifest::Build& build, const Diagnosis& failure) {
  Json facts = Json::object().set("build", build.id).set("ok", false).set("code", failure.code);
  for (const char* what : {"component", "url", "expected_sha256", "actual_sha256"})
    if (!failure.value(what).empty()) facts.set(what, failure.value(what));
  if (const auto tried = failure.values("source_tried"); !tried.empty())
    facts.set("sources", Json::strings(tried));
  return facts;
}

// The manifest's own size does not limit what the administrator allows.
Result<void> check_size(const OpenContext& context, const manifest::Build& build) {
  const settings::Settings& settings = context.settings();
  const std::string key = "downloads.max_artifact_bytes";
  if (!settings.policy.locks(key)) return {};
  if (const auto installed = context.store().find(build.id); installed && *installed) return {};
  const std::uint64_t most = settings.downloads.max_artifact_bytes;
  for (const manifest::Component* component : build.all_components()) {
    const auto fits = [&](const manifest::Artifact& artifact) { return artifact.size.value_or(0) <= most; };
    if (component->artifacts.empty() ||
        std::any_of(component->artifacts.begin(), component->artifacts.end(), fits))
      continue;
    return fail(diagnose("EH-P01")
                    .with("file", settings.policy.file)
                    .with("key", "policy." + key)
                    .with("policy", "policy." + key + " = " + std::to_string(most))
                    .with("what", component->id + " of " +
                                      std::to_string(component->artifacts.front().size.value_or(0)) +
                                      " bytes")
                    .with("build", build.id));
  }
  return {};
}

// See cache::Installed::only_for. A manifest that was read from the record names no repository.
std::optional<std::string> only_for(const settings::Settings& settings, const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  if (!owner || owner->repository.empty()) return std::nullopt;
  if (!owner->signed_by.empty()) return "";
  for (const settings::Repository& repository : settings.repositories)
    if (repository.location == owner->repository && is_url(repository.location) && repository.by_caller &&
        !repository.keep)
      return without_passwords(repository.location);
  return "";
}

}  // namespace

Result<void> repair_places(OpenContext& context) {
  for (const Diagnosis& odd : context.store().unexpected_entries()) {
    const std::filesystem::path place = path_of(odd.value("folder"));
    TRY_ASSIGN(const auto aside, context.store().move_aside(place));
    if (aside)
      context.warn(path_text(place) + " was " + std::string(odd.value("problem")) + ": it was moved to " +
                   path_text(*aside) + ", because the cache needs its place");
  }
  return {};
}

Result<acquire::Acquired> install_noted(OpenContext& context, const manifest::Build& build,
                                        const acquire::AcquireOptions& options,
                                        const transfer::ProgressCallback& progress) {
  TRY(check_size(context, build));
  TRY(repair_places(context));
  acquire::AcquireOptions with_origin = options;
  with_origin.only_for = only_for(context.settings(), build);
  auto acquired = acquire::acquire(build, context.store(), with_origin, progress, context.cancel());
  if (!acquired) {
    if (asked_somebody(acquired.error())) context.note("fetch", fetch_failed(build, acquired.error()));
    return acquired;
  }
  // A source failed before another one served; it may have sent wrong bytes.
  for (const Diagnosis& warning : acquired->warnings)
    if (asked_somebody(warning)) context.note("fetch", fetch_failed(build, warning));
  if (acquired->downloaded > 0)
    context.note("fetch", Json::object()
                              .set("build", build.id)
                              .set("ok", true)
                              .set("bytes", acquired->downloaded)
                              .set("sources", Json::strings(acquired->sources)));
  if (acquired->published)
    context.note("install", Json::object()
                                .set("build", build.id)
                                .set("digest", acquired->installed.digest)
                                .set("repaired", acquired->repaired));
  return acquired;
}

}  // namespace enginehost::open
