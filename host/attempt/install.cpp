#include "host/attempt/install.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/acquire/description.hpp"
#include "host/oci/pull.hpp"
#include "host/settings/policy.hpp"
#include "host/transfer/package_index.hpp"

namespace enginehost::open {
namespace {

// A request that was declined or canceled fetched nothing.
bool asked_somebody(const Diagnosis& failure) {
  return area_of(failure.code) == Area::network || !failure.values(Key::source_tried).empty();
}

Json fetch_failed(const manifest::Build& build, const Diagnosis& failure) {
  Json facts = Json::object().set("build", build.id).set("ok", false).set("code", failure.code_text());
  for (const Key what : {Key::component, Key::url, Key::expected_sha256, Key::actual_sha256})
    if (!failure.value(what).empty()) facts.set(std::string(text_of(what)), failure.value(what));
  if (const auto tried = failure.values(Key::source_tried); !tried.empty())
    facts.set("sources", Json::strings(tried));
  return facts;
}

// The manifest's own size does not limit what the administrator allows.
Result<void> check_size(const settings::Settings& settings, const manifest::Component& component) {
  const std::string key = "downloads.max_artifact_bytes";
  if (!settings.policy.locks(key) || component.artifacts.empty()) return {};
  const std::uint64_t most = settings.downloads.max_artifact_bytes;
  if (std::ranges::any_of(component.artifacts, [&](const manifest::Artifact& artifact) {
        return artifact.size.value_or(0) <= most;
      }))
    return {};
  return fail(settings::refusal(
      settings.policy, key, std::to_string(most),
      component.id + " of " + std::to_string(component.artifacts.front().size.value_or(0)) + " bytes"));
}

// Returns whether policy lets the host of a source be asked. Without a URL nothing is known of the host,
// unless no host may be asked.
Result<void> check_source(const OpenContext& context, const manifest::Source& source,
                          const manifest::Build& build) {
  using Kind = manifest::Source::Kind;
  const settings::Policy& policy = context.settings().policy;
  std::vector<std::string> urls;
  if (source.kind == Kind::package_index) {
    urls = transfer::known_indexes(context.transfer_options());
    if (urls.empty() && policy.allowed_hosts->empty())
      return fail(settings::refusal(policy, "allowed_hosts", settings::list_text({}), "the package index"));
  } else if (source.kind == Kind::oci) {
    for (const std::string& reference : oci::with_mirrors(source.location, context.transfer_options()))
      urls.push_back("https://" + reference);
  } else {
    urls.push_back(source.kind == Kind::file ? acquire::resolve_file_source(source, build) : source.location);
  }
  Result<void> checked;
  for (const std::string& url : urls) {
    checked = is_url(url) ? settings::check_host(policy, url) : Result<void>();
    if (checked) break;
  }
  return checked;
}

Result<void> check_sources(const OpenContext& context, const manifest::Component& component,
                           const manifest::Build& build) {
  Result<void> checked;
  if (!context.settings().policy.allowed_hosts) return checked;
  for (const manifest::Artifact& artifact : component.artifacts)
    for (const manifest::Source& source : artifact.sources) {
      checked = check_source(context, source, build);
      if (checked) return checked;
    }
  return checked;
}

// See cache::Installed::only_for. A manifest that was read from the record names no repository.
std::optional<std::string> only_for(const settings::Settings& settings, const manifest::Build& build) {
  const auto owner = build.manifest.lock();
  if (!owner || owner->repository.empty()) return std::nullopt;
  if (!owner->signed_by.empty()) return "";
  // However a request came to name it.
  if (owner->repository == settings::derived_repository(settings)) return owner->repository;
  for (const settings::Repository& repository : settings.repositories)
    if (repository.location == owner->repository && is_url(repository.location) && repository.by_caller &&
        !repository.keep)
      return without_passwords(repository.location);
  return "";
}

// The question is asked after check_download().
acquire::AcquireOptions with_check(OpenContext& context, const manifest::Build& build,
                                   const acquire::AcquireOptions& options) {
  acquire::AcquireOptions checked = options;
  checked.consent = [&context, &build, ask = options.consent](const acquire::Question& question) {
    auto standing = check_download(context, build, question);
    if (!standing) return Result<void>(fail(std::move(standing).error()));
    return ask ? ask(question) : Result<void>();
  };
  return checked;
}

// `fetched`: a Result<Acquired> or a Result<FetchedTrees>.
template <class Fetched>
void note_fetch(OpenContext& context, const manifest::Build& build, const Fetched& fetched) {
  if (!fetched) {
    if (asked_somebody(fetched.error())) context.note("fetch", fetch_failed(build, fetched.error()));
    return;
  }
  // A source failed before another one served; it may have sent wrong bytes.
  for (const Diagnosis& warning : fetched->warnings)
    if (asked_somebody(warning)) context.note("fetch", fetch_failed(build, warning));
  if (fetched->downloaded > 0)
    context.note("fetch", Json::object()
                              .set("build", build.id)
                              .set("ok", true)
                              .set("bytes", fetched->downloaded)
                              .set("sources", Json::strings(fetched->sources)));
}

}  // namespace

Result<void> repair_places(OpenContext& context) {
  for (const Diagnosis& odd : context.store().unexpected_entries()) {
    const std::filesystem::path place = path_of(odd.value(Key::folder));
    TRY_ASSIGN(const auto aside, context.store().move_aside(place));
    if (aside)
      context.warn(path_text(place) + " was " + std::string(odd.value(Key::problem)) + ": it was moved to " +
                   path_text(*aside) + ", because the cache needs its place");
  }
  return {};
}

Result<acquire::Question> question_offline(const OpenContext& context, const manifest::Build& build) {
  acquire::AcquireOptions options;
  options.transfer = context.transfer_options();
  options.transfer.offline = true;
  return acquire::question_for(build, context.store(), options);
}

Result<consent::Standing> check_download(const OpenContext& context, const manifest::Build& build,
                                         const acquire::Question& question) {
  for (const manifest::Component* component : build.all_components()) {
    if (std::ranges::find(question.components, component->id) == question.components.end()) continue;
    for (auto check : {check_size(context.settings(), *component), check_sources(context, *component, build)})
      if (!check)
        return fail(std::move(check.error().with(Key::build, build.id).with(Key::component, component->id)));
  }
  TRY_ASSIGN(consent::Standing standing, consent::standing_of(context.settings(), question));
  TRY(context.store().check_writable());
  return standing;
}

Result<acquire::Acquired> install_noted(OpenContext& context, const manifest::Build& build,
                                        const acquire::AcquireOptions& options,
                                        const transfer::ProgressCallback& progress) {
  TRY(repair_places(context));
  acquire::AcquireOptions checked = with_check(context, build, options);
  checked.only_for = only_for(context.settings(), build);
  auto acquired = acquire::acquire(build, context.store(), checked, progress, context.cancel());
  note_fetch(context, build, acquired);
  if (!acquired) return acquired;
  if (acquired->published)
    context.note("install", Json::object()
                                .set("build", build.id)
                                .set("digest", acquired->installed.digest)
                                .set("repaired", acquired->repaired));
  return acquired;
}

Result<acquire::FetchedTrees> fetch_trees_noted(OpenContext& context, const manifest::Build& build,
                                                cache::Stage& stage, const acquire::AcquireOptions& options,
                                                const transfer::ProgressCallback& progress) {
  auto fetched = acquire::fetch_trees(build, stage, context.store(), with_check(context, build, options),
                                      progress, context.cancel());
  note_fetch(context, build, fetched);
  return fetched;
}

}  // namespace enginehost::open
