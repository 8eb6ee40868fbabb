#include "host/context/request.hpp"

#include <utility>

#include "base/location.hpp"
#include "cache/record_names.hpp"
#include "host/context/locked.hpp"
#include "host/history/last_update.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::open {

RequestDefaults defaults_of(const settings::Settings& settings) {
  const auto source_of = [&](const char* key) {
    const settings::Setting* const setting = settings.find(key);
    return setting != nullptr ? setting->source : std::string();
  };
  return {settings.flavor, settings.flavor.empty() ? "" : source_of("flavor"),
          settings.device, settings.device.empty() ? "" : source_of("device"),
          settings.update, settings.force,
          settings.offline};
}

resolve::Request completed(resolve::Request request, const RequestDefaults& defaults) {
  if (request.flavor.empty() && !request.require && !defaults.flavor.empty()) {
    request.flavor = defaults.flavor;
    request.flavor_source = defaults.flavor_source;
  }
  if (request.device.empty() && !defaults.device.empty()) {
    request.device = defaults.device;
    request.device_source = defaults.device_source;
  }
  if (request.force.empty()) request.force = defaults.force;
  request.update = resolve::update_of(defaults.update);
  request.offline = request.offline || defaults.offline;
  return request;
}

std::optional<Diagnosis> refused_by_policy(const resolve::Request& request,
                                           const settings::Settings& settings) {
  for (const auto& [key, value] : {std::pair<const char*, const std::string&>{"flavor", request.flavor},
                                   {"device", request.device},
                                   {"force", request.force}})
    if (auto allowed = settings::check_locked(settings, key, value); !allowed)
      return std::move(allowed).error();
  return std::nullopt;
}

namespace {

// Adds what is wrong with the repositories themselves to EH-S02. The list of engines is then no answer.
void add_state_of_repositories(Diagnosis& unknown, const settings::Settings& settings) {
  for (const std::string& place : settings.missing_repository)
    unknown.with(Key::searched, place, "EngineHost's own repository");
  if (!unknown.value(Key::known).empty()) return;
  if (settings.repositories.empty() && settings.missing_repository.empty())
    unknown.with(Key::repositories, "none", "the configuration");
  for (const settings::Repository& repository : settings.repositories)
    unknown.with(Key::empty_repository, without_passwords(repository.location), repository.source);
}

// A person may name the forced build as it was published, or as ENGINE+ID.
void name_forced(const manifest::Catalog& catalog, resolve::Request& request) {
  for (const auto& build : catalog.builds) {
    const std::string& id = build->published_id.empty() ? build->id : build->published_id;
    if (build->engine == request.engine &&
        (request.force == id || request.force == cache::with_engine(build->engine, id)))
      request.force = build->id;
  }
}

// A rollback, and the versions that the policy allows.
void add_choices_of_people(const OpenContext& context, resolve::Request& request) {
  const auto last = history::read_last_update(context.state_folder(), request.engine);
  if (last && last->held && !request.past_rollback) request.held = last->now.build;
  const settings::Policy& policy = context.settings().policy;
  if (const auto range = policy.versions.find(request.engine); range != policy.versions.end()) {
    request.allowed_versions = range->second;
    request.allowed_by = policy.file;
  }
  if (!policy.updates && request.update == resolve::Update::open) request.update = resolve::Update::report;
}

}  // namespace

Result<resolve::Plan> decide(OpenContext& context, resolve::Request request) {
  TRY(context.check_cache());
  TRY(context.check_records());
  TRY_ASSIGN(const auto locked, find_locked(context, request));
  // A forced build may be one of another engine.
  context.need_engine(request.force.empty() ? request.engine : std::string());
  for (const cache::Installed& installed : context.store().list()) {
    request.installed.insert(installed.build);
    if (!context.is_recorded() && installed.in_place.empty()) request.installed_here.insert(installed.build);
  }
  if (!request.force.empty()) name_forced(context.catalog(), request);
  if (!context.is_recorded()) add_choices_of_people(context, request);
  context.look_for_libraries(request.engine);
  manifest::Catalog narrowed;
  if (locked) {
    TRY_ASSIGN(narrowed, only_locked(context, *locked, request));
  }
  resolve::Plan plan = resolve::decide(context.platform(), locked ? narrowed : context.catalog(),
                                       context.history(), std::move(request), OpenContext::now());
  if (locked) explain_locked(context, *locked, plan);
  if (plan.diagnosis && plan.diagnosis->code == Code::engine_unknown)
    add_state_of_repositories(*plan.diagnosis, context.settings());
  return plan;
}

}  // namespace enginehost::open
