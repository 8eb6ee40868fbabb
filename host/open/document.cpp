#include "host/open/open.hpp"

#include <enginehost/engine_plugin.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/paths.hpp"
#include "host/acquire/description.hpp"
#include "host/explain/explain.hpp"
#include "host/history/last_update.hpp"
#include "host/load/wire.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

// Returns what the candidate would download; null if it is not tried.
Json download_document(OpenContext& context, const resolve::Candidate& candidate) {
  if (candidate.rank == 0) return {};
  const acquire::Pending pending = pending_download(context, *candidate.build);
  return Json::object()
      .set("bytes", pending.bytes_known ? Json(pending.bytes) : Json())
      .set("unpacked", pending.unpacked != 0 ? Json(pending.unpacked) : Json())
      .set("sources", Json::strings(pending.sources))
      .set("licenses", Json::strings(pending.licenses));
}

// Returns the received bytes, or for a plan the bytes that an open would receive.
std::uint64_t downloaded_bytes(OpenContext& context, const Outcome& outcome) {
  if (outcome.state != State::planned || outcome.chosen == nullptr) return outcome.downloaded;
  return pending_download(context, *outcome.chosen->build).bytes;
}

// Returns the last update or rollback of the engine, if it led to the build; else null.
Json last_update_document(const OpenContext& context, const Outcome& outcome) {
  if (outcome.chosen == nullptr || context.is_recorded()) return {};
  const manifest::Build& build = *outcome.chosen->build;
  const auto last = history::read_last_update(context.state_folder(), build.engine);
  if (!last || last->now.build != build.id) return {};
  return Json::object()
      .set("before", last->before.build)
      .set("before_version", last->before.version)
      .set("rolled_back", last->held)
      .set("at", last->at);
}

Json outcome_document(OpenContext& context, const Outcome& outcome) {
  Json document = Json::object().set("state", name_of(outcome.state));
  if (outcome.opened && !outcome.opened->installed.build.empty()) {
    document.set("build", outcome.opened->installed.build).set("flavor", outcome.opened->installed.flavor);
  } else if (outcome.chosen != nullptr) {
    document.set("build", outcome.chosen->build->id).set("flavor", outcome.chosen->build->flavor);
  } else {
    document.set("build", nullptr).set("flavor", nullptr);
  }
  document.set("fallback", outcome.fallback);
  document.set("forced", outcome.chosen != nullptr && outcome.chosen->forced);
  Json newer = Json::array();
  if (outcome.chosen != nullptr)
    for (const resolve::PassedOver& one : resolve::newer_passed_over(outcome.plan, *outcome.chosen))
      newer.push(Json::object()
                     .set("version", one.candidate->build->version)
                     .set("build", one.candidate->build->id)
                     .set("code", one.code == Code::none ? Json() : Json(std::string(text_of(one.code))))
                     .set("reason", one.reason));
  document.set("newer", std::move(newer));
  const auto update =
      outcome.chosen != nullptr ? resolve::update_of(outcome.plan, *outcome.chosen) : std::nullopt;
  document.set("update", update ? Json::object()
                                      .set("version", update->candidate->build->version)
                                      .set("build", update->candidate->build->id)
                                : Json());
  document.set("last_update", last_update_document(context, outcome));
  document.set("obstacle", outcome.chosen != nullptr && outcome.chosen->obstacle
                               ? explain::to_json(*outcome.chosen->obstacle)
                               : Json());
  Json devices = Json::array(), capabilities = Json::array(), loaded = Json::array(), facts = Json::object();
  if (outcome.opened) {
    for (const load::Device& device : outcome.opened->devices) devices.push(load::to_json(device));
    capabilities = Json::strings(outcome.opened->engine->capabilities());
    loaded = load::libraries_to_wire(outcome.opened->libraries);
    for (const auto& [key, value] : outcome.opened->engine->facts()) facts.set(key, value);
  }
  Json timings = Json::object();
  for (const auto& [what, milliseconds] : outcome.timings_ms) timings.set(what, milliseconds);
  return document.set("devices", std::move(devices))
      .set("capabilities", std::move(capabilities))
      .set("library", outcome.opened ? Json(path_text(outcome.opened->plugin->file())) : Json())
      .set("in_place", outcome.opened && !outcome.opened->installed.in_place.empty()
                           ? Json(outcome.opened->installed.in_place)
                           : Json())
      .set("origin", outcome.opened ? acquire::origin_of(outcome.opened->installed) : Json())
      .set("facts", std::move(facts))
      .set("loaded", std::move(loaded))
      .set("stand_ins", outcome.opened ? Json::strings(outcome.opened->installed.stand_ins) : Json::array())
      .set("proven", outcome.proven_before || outcome.probed)
      .set("download", Json::object()
                           .set("bytes", downloaded_bytes(context, outcome))
                           .set("seconds", outcome.download_seconds))
      .set("timings_ms", std::move(timings));
}

}  // namespace

Json tool_document() {
  return Json::object()
      .set("name", "enginehost")
      .set("version", ENGINEHOST_VERSION)
      .set("plugin_abi", std::to_string(ENGINE_ABI_MAJOR) + "." + std::to_string(ENGINE_ABI_MINOR));
}

Json config_document(const settings::Settings& settings) {
  Json list = Json::array();
  for (const settings::Setting& setting : settings.effective)
    list.push(Json::object()
                  .set("key", setting.key)
                  .set("value", setting.value)
                  .set("source", setting.source)
                  .set("locked", setting.locked));
  return list;
}

Json vendor_facts_document(OpenContext& context) {
  static_cast<void>(context.catalog());  // whose repositories decide which facts are used
  const vendor::Facts& facts = vendor::in_use();
  return Json::object()
      .set("serial", facts.serial)
      .set("date", facts.date)
      .set("from", facts.from.empty() ? Json() : Json(facts.from))
      .set("sha256", facts.sha256);
}

Json warnings_document(const OpenContext& context, const std::vector<Diagnosis>& warnings) {
  Json list = Json::array();
  for (const std::string& text : context.warnings()) list.push(Json::object().set("text", text));
  for (const Diagnosis& warning : warnings)
    list.push(
        Json::object().set("text", explain::one_line(warning)).set("diagnosis", explain::to_json(warning)));
  return list;
}

Json turned_down_document(const std::vector<TurnedDown>& builds) {
  Json list = Json::array();
  for (const TurnedDown& one : builds)
    list.push(Json::object()
                  .set("build", one.build)
                  .set("verdict", resolve::name_of(one.verdict))
                  .set("diagnosis", one.why ? explain::to_json(*one.why) : Json()));
  return list;
}

Json shadowed_document(const manifest::Catalog& catalog, const std::string& engine) {
  Json list = Json::array();
  std::set<std::string_view> asked_for;
  if (!catalog.shadowed.empty())
    for (const auto& build : catalog.builds)
      if (build->engine == engine) asked_for.insert(build->id);
  for (const manifest::Shadowed& shadowed : catalog.shadowed) {
    if (list.as_array().size() == resolve::most_listed) break;
    if (asked_for.contains(shadowed.build))
      list.push(Json::object()
                    .set("build", shadowed.build)
                    .set("repository", shadowed.repository)
                    .set("shadowed_by", shadowed.by));
  }
  return list;
}

Json document(OpenContext& context, Outcome& outcome) {
  weigh(context, outcome);
  Json candidates = Json::array();
  std::size_t left_out = 0;
  for (const resolve::Candidate& candidate : outcome.plan.candidates) {
    if (candidates.as_array().size() >= resolve::most_listed && &candidate != outcome.chosen) {
      ++left_out;
      continue;
    }
    Json entry = resolve::to_json(candidate);
    const auto diagnosis = candidate.diagnosis();
    entry.set("diagnosis", diagnosis ? explain::to_json(*diagnosis) : Json());
    entry.set("obstacle", candidate.obstacle ? explain::to_json(*candidate.obstacle) : Json());
    entry.set("download", download_document(context, candidate));
    candidates.push(std::move(entry));
  }
  Json whole = Json::object();
  whole.set("format", 1)
      .set("tool", tool_document())
      .set("platform", platform::to_json(context.platform()))
      .set("request", resolve::to_json(outcome.plan.request))
      .set("config", config_document(context.settings()))
      .set("candidates", std::move(candidates))
      .set("vendor_facts", vendor_facts_document(context))
      .set("shadowed", shadowed_document(context.catalog(), outcome.plan.request.engine))
      .set("outcome", outcome_document(context, outcome))
      .set("warnings", warnings_document(context, outcome.warnings))
      .set("diagnosis", outcome.diagnosis ? explain::to_json(*outcome.diagnosis) : Json());
  if (left_out != 0) whole.set("candidates_left_out", static_cast<std::uint64_t>(left_out));
  return whole;
}

}  // namespace enginehost::open
