#include "host/commands/report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/acquire/description.hpp"
#include "host/catalog/age.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/history/last_update.hpp"
#include "host/open/open.hpp"
#include "host/platform/platform.hpp"
#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::commands {
namespace {

std::string milliseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1f ms" : "%.0f ms", value);
  return text;
}

struct EngineLine {
  std::set<std::string> flavors;
  std::vector<std::string> versions;  // newest first
  std::uint64_t builds = 0;
};

std::map<std::string, EngineLine> engines_of(const manifest::Catalog& catalog) {
  std::map<std::string, EngineLine> engines;
  for (const auto& build : catalog.builds) {
    EngineLine& engine = engines[build->engine];
    ++engine.builds;
    engine.flavors.insert(build->flavor);
    if (std::find(engine.versions.begin(), engine.versions.end(), build->version) == engine.versions.end())
      engine.versions.push_back(build->version);
  }
  for (auto& [name, engine] : engines)
    std::sort(engine.versions.begin(), engine.versions.end(),
              [](const auto& a, const auto& b) { return compare_versions(a, b) > 0; });
  return engines;
}

std::string cause_of(const history::Record& record) {
  return record.diagnosis.is_null() ? "" : explain::one_line(explain::diagnosis_from_json(record.diagnosis));
}

// Shortens the paths of a report: CACHE for the cache's folder, and 8 of the 64 digits of an id.
class PathShortener {
 public:
  // `verbose`: paths stay whole.
  PathShortener(std::string cache, bool verbose) : cache_(std::move(cache)), whole_(verbose) {}

  std::string operator()(std::string text) {
    replace_all(text, "/./", "/");
    if (whole_) return text;
    for (const char* const separator : {"/", "\\"})
      if (!cache_.empty())
        used_ = replace_all(text, cache_ + separator, std::string("CACHE") + separator) || used_;
    return with_short_ids(text);
  }
  // Returns the line that says where CACHE is; empty if no path begins with it.
  std::string legend() const { return used_ ? labeled("cache", cache_) : ""; }

 private:
  static bool replace_all(std::string& text, const std::string& from, const std::string& to) {
    bool found = false;
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; found = true) {
      text.replace(at, from.size(), to);
      at += to.size() > 1 ? to.size() : 0;  // "/././" holds "/./" twice
    }
    return found;
  }
  static std::string with_short_ids(const std::string& text) {
    static const std::regex id("(^|[^0-9a-f])([0-9a-f]{8})[0-9a-f]{56}(?![0-9a-f])");
    return std::regex_replace(text, id, "$1$2…");
  }

  std::string cache_;
  bool whole_ = false, used_ = false;
};

std::string opened_report(const open::Outcome& outcome, PathShortener& shorten, bool verbose) {
  const open::Opened& opened = *outcome.opened;
  std::string text;
  text += labeled("library", shorten(path_text(opened.plugin->file().lexically_normal())));
  if (!opened.installed.in_place.empty()) text += labeled("in place", opened.installed.in_place);
  for (const load::Device& device : opened.devices)
    text += labeled("device", device.text() + (device.name.empty() ? "" : "  " + device.name) +
                                  (device.architecture.empty() ? "" : "  (" + device.architecture + ")") +
                                  (device.memory_total == 0 ? "" : "  " + format_bytes(device.memory_total)));
  if (opened.devices.empty()) text += labeled("device", "none");
  text += labeled("capabilities", join(opened.engine->capabilities(), " "));
  // An adapter's "library" fact is its runtime, because "library" above is the plugin.
  for (const auto& [key, value] : opened.engine->facts())
    text += labeled(key == "library" ? "runtime" : key, shorten(value));
  std::map<std::string, int> origins;
  for (const load::Library& library : opened.libraries) ++origins[library.origin];
  std::vector<std::string> counts;
  // A plugin that was named as a file is in no cache.
  const bool own_folder = opened.installed.digest.empty();
  for (const auto& [origin, count] : origins)
    counts.push_back(std::to_string(count) + " from " +
                     (own_folder && origin == "cache" ? "its own folder" : "the " + origin));
  const std::size_t count = opened.libraries.size();
  text += labeled("loaded", pluralize(count, "library", "libraries") + ": " + join(counts, ", "));
  if (verbose)
    for (const load::Library& library : opened.libraries)
      text += labeled("", library.soname + "  " + library.path + "  (" + library.origin + ")");
  if (!opened.installed.stand_ins.empty())
    text += labeled("stand-ins",
                    join(opened.installed.stand_ins, ", ") + " (EngineHost's own: no CUDA in this build)");
  text += labeled("proven", outcome.proven_before ? "on this machine, on record"
                            : outcome.probed      ? "now, by a probe in a child process"
                                                  : "no: it was not probed in a child process");
  if (outcome.downloaded > 0) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f s", outcome.download_seconds);
    text += labeled("fetched", format_bytes(outcome.downloaded) + " in " + seconds);
  }
  std::vector<std::string> times;
  for (const auto& [what, value] : outcome.timings_ms) times.push_back(what + " " + milliseconds(value));
  return text + labeled("time", join(times, ", "));
}

// Returns a line for each newer version that was passed over, with the reason.
std::string newer_versions(const open::Outcome& outcome) {
  constexpr std::size_t most = 3;
  const std::vector<resolve::PassedOver> newer = resolve::newer_passed_over(outcome.plan, *outcome.chosen);
  std::string text;
  for (std::size_t i = 0; i < std::min(newer.size(), most); ++i) {
    const manifest::Build& build = *newer[i].candidate->build;
    text += labeled(i == 0 ? "newer, but" : "", build.version + " " + build.flavor + ": " + newer[i].reason);
  }
  if (newer.size() > most)
    text += labeled("", "and " + pluralize(newer.size() - most, "other version", "other versions") +
                            " (--plan --explain)");
  return text;
}

// Returns the line that says which requirements a forced build does not meet.
std::string forced_line(const resolve::Candidate& candidate) {
  std::vector<std::string> unmet;
  for (const resolve::Check& check : candidate.checks)
    if (check.overridden) unmet.push_back(resolve::needs_and_found(check));
  return unmet.empty() ? "" : labeled("forced", "although it " + join(unmet, "; "));
}

// Returns "18 MiB to download (package index, folder), license MIT".
std::string download_note(const acquire::Pending& pending) {
  std::string text;
  if (pending.unpacked != 0) {
    text = "installed, " + format_bytes(pending.unpacked);
  } else if (pending.parts == 0) {
    text = "nothing to download";
  } else {
    if (!pending.bytes_known) text = pending.bytes == 0 ? "unknown size" : "more than ";
    if (pending.bytes_known || pending.bytes != 0) text += format_bytes(pending.bytes);
    text += pending.over_network ? " to download" : " to unpack";
    if (!pending.sources.empty()) text += " (" + join(pending.sources, ", ") + ")";
  }
  if (!pending.licenses.empty())
    text += std::string(", ") + (pending.licenses.size() == 1 ? "license " : "licenses ") +
            join(pending.licenses, ", ");
  return text;
}

// Returns the line about the last update or rollback, if it led to the build.
std::string last_update_line(const open::OpenContext& context, const manifest::Build& build) {
  const auto last = history::read_last_update(context.state_folder(), build.engine);
  if (!last || last->now.build != build.id || last->before.version.empty()) return "";
  const std::string day = settings::utc_text(last->at).substr(0, 10);
  return labeled(last->held ? "rolled back" : "updated", "from " + last->before.version + " on " + day);
}

// Returns what was requested, or would have been better, than the build that is opened.
std::string not_opened(const open::Outcome& outcome, const manifest::Build& build) {
  std::string text = not_taken(outcome.plan, build.flavor, "--plan --explain");
  const resolve::Request& request = outcome.plan.request;
  const std::vector<std::string> requested = resolve::devices_of(request.device);
  if (outcome.opened && !requested.empty() &&
      load::first_meant(outcome.opened->devices, requested.front()) == nullptr)
    text += "  the device " + requested.front() + ", which was requested first (reason: --plan --explain)\n";
  return text;
}

// Returns the builds that fit but would have to be downloaded, each with the command that fetches it on a
// machine with a network. `recorded`: the file of the machine that was decided for.
std::string missing_report(const resolve::Plan& plan, const std::string& recorded) {
  std::string text;
  std::size_t listed = 0;
  for (const resolve::Candidate& candidate : plan.candidates) {
    if (candidate.verdict != resolve::Verdict::unavailable) continue;
    const auto diagnosis = candidate.diagnosis();
    if (!diagnosis || diagnosis->code != Code::not_installed_and_offline || listed++ >= resolve::most_listed)
      continue;
    if (text.empty()) text = "not installed, and offline\n";
    const std::string machine = recorded.empty() ? "" : " --platform " + shell_word(recorded);
    text += "  " + candidate.build->id + "  " +
            with_given_flags(std::string(diagnosis->value(Key::command)) + machine) + "\n";
  }
  return text;
}

}  // namespace

std::string why_no_engine_is_known(open::OpenContext& context) {
  const settings::Settings& settings = context.settings();
  std::vector<std::string> locations;
  for (const settings::Repository& repository : settings.repositories)
    locations.push_back(without_passwords(repository.location));
  if (!locations.empty())
    return (context.catalog().failures.empty() ? "no engine is listed in " : "nothing could be read of ") +
           join(locations, ", ");
  if (!settings.missing_repository.empty())
    return "EngineHost's own repository is in none of " + join(settings.missing_repository, ", ") +
           ", and no other is configured";
  return "no repository is configured (--repository, ENGINEHOST_REPOSITORIES or config.json)";
}

std::string machine_report(open::OpenContext& context) {
  std::string text = "machine\n" + platform::describe(context.platform());
  text += "\nengines\n";
  for (const auto& [name, engine] : engines_of(context.catalog()))
    text += labeled(name, join(engine.versions, " ") + "  (" + pluralize(engine.builds, "build", "builds") +
                              ": " + join({engine.flavors.begin(), engine.flavors.end()}, " ") + ")");
  if (context.catalog().builds.empty()) text += "  none: " + why_no_engine_is_known(context) + "\n";
  for (const Diagnosis& failure : context.catalog().failures)
    text += "  " + explain::one_line(failure) + "\n";

  text += "\ninstalled\n";
  std::vector<Diagnosis> unread;
  const auto installed = context.store().list(&unread);
  for (const cache::Installed& build : installed)
    text += "  " + build.build + "  " + format_bytes(build.size) +
            (build.read_only ? "  (system layer)" : "") + "\n";
  const auto readable = context.store().check_readable();
  if (!readable)
    text += "  " + explain::one_line(readable.error()) + "\n";
  else if (installed.empty() && unread.empty())
    text += "  nothing yet\n";
  for (const Diagnosis& why : unread) text += "  " + explain::one_line(why) + "\n";

  text += "\nquarantined\n";
  bool any = false;
  for (const auto& [build, record] : context.history().records) {
    if (!history::is_on_record_against(record)) continue;
    any = true;
    text += "  " + build + "  " + history::name_of(record.state) + ": " + cause_of(record) + "\n";
  }
  if (!any) text += "  nothing\n";

  text += "\nconfiguration\n";
  if (const vendor::Facts& facts = vendor::in_use(); !facts.from.empty())
    text += labeled("vendor facts", "serial " + std::to_string(facts.serial) + " of " +
                                        facts.date.substr(0, 10) + "  (" + facts.from + ")");
  for (const settings::Setting& setting : context.settings().effective)
    text +=
        labeled(setting.key, setting.value + "  (" + setting.source + (setting.locked ? ", locked)" : ")"));
  return text;
}

Json machine_document(open::OpenContext& context, const std::optional<Diagnosis>& broken) {
  Json engines = Json::array(), installed = Json::array(), set_aside = Json::array(),
       failures = Json::array();
  // Nothing can be decided without the configuration.
  auto plans = broken ? Result<std::vector<resolve::Plan>>() : plans_of_engines(context);
  if (!plans) plans.emplace();
  for (const auto& [name, engine] : engines_of(context.catalog())) {
    const auto plan =
        std::ranges::find(*plans, name, [](const resolve::Plan& one) { return one.request.engine; });
    engines.push(Json::object()
                     .set("engine", name)
                     .set("versions", Json::strings(engine.versions))
                     .set("flavors", Json::strings({engine.flavors.begin(), engine.flavors.end()}))
                     .set("builds", engine.builds)
                     .set("opens", plan != plans->end() ? to_json(*plan) : Json()));
  }
  std::vector<Diagnosis> unread;
  for (const cache::Installed& build : context.store().list(&unread))
    installed.push(Json::object()
                       .set("build", build.build)
                       .set("digest", build.digest)
                       .set("size", build.size)
                       .set("folder", path_text(build.folder))
                       .set("read_only", build.read_only)
                       .set("origin", acquire::origin_of(build)));
  for (const auto& [build, record] : context.history().records)
    if (history::is_on_record_against(record)) set_aside.push(history::to_json(record));
  if (broken) failures.push(explain::to_json(*broken));
  for (const Diagnosis& why : unread) failures.push(explain::to_json(why));
  for (const Diagnosis& failure : context.catalog().failures) failures.push(explain::to_json(failure));
  if (const auto readable = context.store().check_readable(); !readable)
    failures.push(explain::to_json(readable.error()));
  return Json::object()
      .set("format", 1)
      .set("tool", open::tool_document())
      .set("platform", platform::to_json(context.platform()))
      .set("config", open::config_document(context.settings()))
      .set("vendor_facts", open::vendor_facts_document(context))
      .set("engines", std::move(engines))
      .set("installed", std::move(installed))
      .set("set_aside", std::move(set_aside))
      .set("failures", std::move(failures))
      .set("warnings", open::warnings_document(context, {}));
}

std::string not_taken(const resolve::Plan& plan, const std::string& flavor, const std::string& explains) {
  std::string text;
  for (const open::TurnedDown& one : open::turned_down(plan))
    text += "  " + one.build + "  " + (one.why ? explain::one_line(*one.why) : "") + "\n";
  const resolve::Request& request = plan.request;
  if (plan.forced_in_vain)
    text += "  " + request.force + "  " + explain::one_line(*plan.forced_in_vain) + "\n";
  if (!request.flavor.empty() && request.flavor != flavor)
    text += "  the flavor " + request.flavor + ", which was requested (" +
            (request.flavor_source.empty() ? "" : request.flavor_source + "; ") + "reason: " + explains +
            ")\n";
  return text;
}

OutcomeReport outcome_report(open::OpenContext& context, const open::Outcome& outcome, bool explain,
                             bool verbose, const std::string& recorded) {
  OutcomeReport report;
  std::string& text = report.result;
  const manifest::Build* build = outcome.chosen != nullptr ? outcome.chosen->build.get() : nullptr;
  if (outcome.state == open::State::opened) {
    text += build != nullptr ? build->engine + " " + build->version + " " + build->flavor + " is open\n"
                             : "the plugin " + outcome.opened->installed.plugin + " is open\n";
    if (build != nullptr)
      text += labeled("build", build->id) +
              labeled("origin", acquire::describe_origin(outcome.opened->installed,
                                                         settings::own_repository(context.settings())));
    PathShortener shorten(path_text(context.settings().cache_folder.lexically_normal()), verbose);
    text += opened_report(outcome, shorten, verbose);
    if (build != nullptr)
      text += forced_line(*outcome.chosen) + last_update_line(context, *build) + newer_versions(outcome);
    text += shorten.legend();
  } else if (outcome.state == open::State::planned) {
    const std::string title = build->engine + " " + build->version + " " + build->flavor;
    const auto& obstacle = outcome.chosen->obstacle;
    const bool asks = obstacle && obstacle->code == Code::consent_missing;
    text += title + (obstacle && !asks ? " fits, and would not be opened: " : " would be opened: ") +
            build->id + "\n";
    if (asks)
      text += labeled("asks", "first: " + join(obstacle->values(Key::license), ", ") + " must be accepted");
    if (obstacle && !asks) text += labeled("stopped by", explain::one_line(*obstacle));
    if (!context.is_recorded())
      text += labeled("installed", outcome.plan.request.installed.contains(build->id) ? "yes" : "no");
    text += forced_line(*outcome.chosen);
    if (!context.is_recorded()) text += last_update_line(context, *build);
    text += newer_versions(outcome);
    if (const auto age = catalog::age_of_manifests(context.catalog(), open::OpenContext::now()))
      text += labeled("known", *age + "; engine-cache update asks for newer ones");
  } else {
    const std::string& engine = outcome.plan.request.engine;
    text += (engine.empty() ? "the plugin" : engine) + " could not be opened\n";
  }
  if (outcome.fallback && outcome.state != open::State::failed) {
    const std::string others = not_opened(outcome, *build);
    if (!others.empty()) text += "instead of\n" + others;
  }
  std::string& builds = report.builds;
  const std::size_t count = outcome.plan.candidates.size();
  const auto note = [&](const resolve::Candidate& candidate) {
    return (candidate.obstacle ? resolve::obstacle_text(*candidate.obstacle) + "; " : "") +
           download_note(open::pending_download(context, *candidate.build));
  };
  const bool planned = outcome.state == open::State::planned;
  if (explain && count != 0) {
    builds =
        "\n" + resolve::describe_plan(outcome.plan, explain::one_line, planned ? note : resolve::NoteOf());
    if (outcome.plan.request.offline) builds += missing_report(outcome.plan, recorded);
    for (const manifest::Shadowed& shadowed : context.catalog().shadowed)
      builds += "  " + shadowed.build + " of " + shadowed.repository + " is shadowed by that of " +
                shadowed.by + "\n";
  } else if (planned) {
    builds = "\n" + resolve::describe_choice(outcome.plan, explain::one_line, note);
  } else if (outcome.state == open::State::failed && count != 0) {
    builds = pluralize(count, "build was", "builds were") + " considered: --explain lists " +
             (count == 1 ? "it" : "them with their reasons") + "\n";
  }
  return report;
}

}  // namespace enginehost::commands
