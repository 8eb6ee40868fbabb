// engine-cache quarantine: shows and changes which builds are not used on this machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

// Returns the time to the minute.
std::string time_text(std::int64_t seconds) {
  std::string text = settings::utc_text(seconds);
  return text.erase(text.rfind(':'), 3);
}

// Splits the last lines of the probe's standard error, which are kept as one text.
std::string lines_of(std::string_view label, std::string_view joined) {
  constexpr std::string_view between = " | ";
  std::string text;
  while (!joined.empty()) {
    const std::size_t end = joined.find(between);
    text += labeled(text.empty() ? label : "", std::string(joined.substr(0, end)));
    joined = end == std::string_view::npos ? std::string_view() : joined.substr(end + between.size());
  }
  return text;
}

std::string how_it_ended(const Diagnosis& diagnosis) {
  std::string text;
  const auto add = [&](std::string_view label, Key key) {
    if (const auto value = diagnosis.value(key); !value.empty()) text += labeled(label, std::string(value));
  };
  add("stage", Key::stage);
  add("signal", Key::signal);
  add("exit status", Key::exit_code);
  add("in library", Key::in_library);
  add("no answer in", Key::deadline);
  add("program", Key::program);
  add("process", Key::process);
  return text + lines_of("last output", diagnosis.value(Key::last_words));
}

std::string what_ends_it(const history::Record& record) {
  if (record.state == history::State::disabled)
    return labeled("ends", "never by itself: it was disabled by hand (" +
                               with_given_flags("engine-cache quarantine enable " + record.build) +
                               " takes that back)");
  std::string text = labeled("ends", record.state == history::State::suspect
                                         ? "with its next success; until then it is tried with a warning"
                                     : record.retry_after != 0 ? "on " + time_text(record.retry_after) +
                                                                     ", or when one of these changes"
                                                               : "when one of these changes");
  for (const history::DependencyStamp& stamp : record.dependency_stamps)
    text += labeled("", stamp.path + (stamp.present ? "" : " (is not there)"));
  std::vector<std::string> parts;
  for (const auto& [name, value] : record.host) parts.push_back(name);
  if (!parts.empty()) text += labeled("", "of the machine: " + join(parts, ", "));
  return text + labeled("", "or when the build has other files");
}

// Returns one line: "build  state: EH-R02 crash: …".
std::string line_of(const history::Record& record) {
  return record.build + "  " + history::name_of(record.state) +
         (record.diagnosis.is_null()
              ? ""
              : ": " + explain::one_line(explain::diagnosis_from_json(record.diagnosis)));
}

// Returns everything that is recorded: when, at which stage and how it failed, the last output, what ends the
// record, and the command that does. `why_ended`: why the record no longer holds, or empty.
std::string full_text(const history::Record& record, const std::string& why_ended) {
  std::string text = line_of(record) + "\n";
  if (!why_ended.empty()) text += labeled("no longer", why_ended + "; it is tried again by the next open");
  text += labeled("first seen", time_text(record.first_seen));
  text += labeled("last seen", time_text(record.last_seen));
  text += labeled("how often", std::to_string(record.count));
  if (record.strikes > 0) {
    char strikes[32];
    std::snprintf(strikes, sizeof strikes, "%g of 2", record.strikes);
    text += labeled("strikes", strikes);
  }
  if (!record.diagnosis.is_null()) text += how_it_ended(explain::diagnosis_from_json(record.diagnosis));
  text += what_ends_it(record);
  if (!record.diagnosis.is_null())
    text += "\n" + described(explain::diagnosis_from_json(record.diagnosis)) + "\n";
  const bool disabled = record.state == history::State::disabled;
  const std::string command = with_given_flags("engine-cache quarantine " +
                                               std::string(disabled ? "enable " : "clear ") + record.build);
  // The record only notes the cause; clearing it does not remove the cause.
  if (record.state == history::State::unfit && why_ended.empty())
    return text +
           "\nit is tried again by itself when that changes; to try it earlier, which repairs nothing: " +
           command + "\n";
  return text + "\nto try it again now: " + command + "\n";
}

constexpr const char* record_meaning =
    "a build of quarantine list: its id, a unique beginning of it, ENGINE or ENGINE@VERSION";

// Returns the id of the build that was named. `disable` knows the installed builds, too; the other actions
// only builds with a record.
Result<std::string> build_meant(open::OpenContext& context, const std::string& given, bool disable) {
  if (given.empty()) return given;
  std::vector<KnownBuild> known = known_builds(context.store().list());
  std::set<std::string> recorded;
  for (const auto& [build, record] : context.history().records)
    if (history::is_on_record_against(record)) recorded.insert(build);
  for (const history::Stale& stale : context.records().stale) recorded.insert(stale.record.build);
  recorded.insert(context.records().unreadable.begin(), context.records().unreadable.end());
  if (!disable) std::erase_if(known, [&](const KnownBuild& one) { return !recorded.contains(one.name); });
  for (const std::string& build : recorded)
    if (std::none_of(known.begin(), known.end(), [&](const KnownBuild& one) { return one.name == build; }))
      known.push_back({.name = build});
  return build_named(given, known);
}

Diagnosis unknown(const std::string& build) {
  return std::move(diagnose(Code::nothing_on_record).with(Key::build, build));
}

Json ended_document(const history::Stale& stale) {
  return Json::object().set("record", history::to_json(stale.record)).set("why", stale.why);
}

// Returns the record of the build that no longer holds, or that holds for another program; else nullptr.
const history::Stale* ended(open::OpenContext& context, const std::string& build) {
  for (const history::Stale& stale : context.records().stale)
    if (stale.record.build == build) return &stale;
  return nullptr;
}

Result<Json> show_record(open::OpenContext& context, const CacheRun& run, const std::string& build) {
  const history::Record* record = context.history().find(build);
  const history::Stale* stale = record == nullptr ? ended(context, build) : nullptr;
  if (record == nullptr && stale == nullptr) return fail(unknown(build));
  const history::Record& shown = record != nullptr ? *record : stale->record;
  const bool has_ended = stale != nullptr && stale->program.empty();
  Json records = Json::array(), gone = Json::array();
  if (has_ended)
    gone.push(ended_document(*stale));
  else
    records.push(history::to_json(shown));
  if (run.prints_text()) say_text(full_text(shown, has_ended ? stale->why : std::string()));
  return Json::object().set("format", 1).set("records", std::move(records)).set("ended", std::move(gone));
}

// Lists every record that is not a proof, and separately the records that no longer hold, so that none
// disappears without a word.
Result<Json> list_records(open::OpenContext& context, const CacheRun& run) {
  Json records = Json::array(), gone = Json::array();
  std::string text;
  for (const auto& [build, record] : context.history().records) {
    if (!history::is_on_record_against(record)) continue;
    records.push(history::to_json(record));
    text += line_of(record) + "\n";
  }
  for (const history::Stale& stale : context.records().stale) {
    if (!history::is_on_record_against(stale.record) || context.history().find(stale.record.build) != nullptr)
      continue;
    if (!stale.program.empty()) {
      records.push(history::to_json(stale.record));
      text += line_of(stale.record) + "  (only in the program " + stale.program + ")\n";
      continue;
    }
    gone.push(ended_document(stale));
    text += stale.record.build + "  was " + history::name_of(stale.record.state) +
            ", is tried again: " + stale.why + "\n";
  }
  // An unreadable record no longer counts, so a disabled build would be used again.
  const std::vector<std::string>& unreadable = context.records().warnings;
  if (run.prints_text() && text.empty())
    say("%s is quarantined on this machine\n",
        unreadable.empty() ? "no build" : "no build with a readable record");
  else if (run.prints_text())
    say_text(text);
  run.warn(unreadable);
  return Json::object()
      .set("format", 1)
      .set("records", std::move(records))
      .set("ended", std::move(gone))
      .set("warnings", Json::strings(unreadable));
}

// Ends the record of a build. Returns true if the build was disabled by hand. A build that was quarantined
// before it was disabled is quarantined again after `enable`.
Result<bool> end(open::OpenContext& context, const std::string& build, bool enable) {
  const history::Record* const known = context.history().find(build);
  const bool disabled = known != nullptr && known->state == history::State::disabled;
  TRY(context.check_may_end(build));
  const Json covered = known != nullptr ? known->facts["covers"] : Json();
  auto before = history::record_from_json(covered, build);
  if (enable && before)
    TRY(context.remember(std::move(*before)));
  else
    TRY(context.forget(build));
  context.note(enable ? "quarantine_enable" : "quarantine_clear", Json::object().set("build", build));
  return disabled;
}

// Clears the record of a build, or with `all` those of all builds that are not disabled.
Result<Json> clear_records(open::OpenContext& context, const CacheRun& run, const std::string& build,
                           bool all, bool enable) {
  TRY(context.check_state_place());
  const history::Record* const known = context.history().find(build);
  // `enable` takes back a disable only. A quarantine after a failure ends by `clear`.
  if (enable && known != nullptr && known->state != history::State::disabled)
    return fail(unknown(build).with(Key::state, history::name_of(known->state)));
  std::vector<std::string> builds;
  const auto add = [&](const history::Record& record) {
    const bool cleared_by_all =
        history::is_on_record_against(record) && record.state != history::State::disabled;
    if (all ? cleared_by_all : record.build == build) builds.push_back(record.build);
  };
  for (const auto& [id, record] : context.history().records) add(record);
  for (const history::Stale& stale : context.records().stale)
    if (!stale.program.empty()) add(stale.record);
  // An unreadable record may be a disable.
  const std::vector<std::string>& unreadable = context.records().unreadable;
  if (!all && builds.empty() && std::find(unreadable.begin(), unreadable.end(), build) != unreadable.end())
    builds.push_back(build);
  // A named build may be cleared although its record cannot be read.
  if (builds.empty() || all) TRY(context.check_records());
  if (builds.empty() && !all) {
    // An unreadable record may be the one that was named.
    Diagnosis diagnosis = unknown(build);
    for (const std::string& warning : context.records().warnings) diagnosis.with(Key::warning, warning);
    run.warn(context.records().warnings);
    return fail(std::move(diagnosis));
  }
  std::vector<std::string> enabled;
  for (const std::string& one : builds) {
    TRY_ASSIGN(const bool was_disabled, end(context, one, enable));
    if (was_disabled) enabled.push_back(one);
  }
  const std::vector<std::string> warnings = context.warnings();
  if (run.prints_text() && enable) say("%s may be used again\n", build.c_str());
  if (run.prints_text() && !enable) {
    say("%zu cleared\n", builds.size());
    for (const std::string& one : enabled)
      say("%s was disabled by hand: it may be used again, too\n", one.c_str());
  }
  run.warn(warnings);
  return Json::object()
      .set("format", 1)
      .set("cleared", Json::strings(builds))
      .set("enabled", Json::strings(enabled))
      .set("warnings", Json::strings(warnings));
}

// Returns a warning if no repository, installed build or record has that name. It may be a typing error, or a
// future build.
std::vector<std::string> doubts_about(open::OpenContext& context, const std::string& build) {
  std::vector<std::string> known;
  for (const auto& one : context.catalog().builds) known.push_back(one->id);
  std::vector<Diagnosis> unread;
  for (const cache::Installed& installed : context.store().list(&unread)) known.push_back(installed.build);
  for (const auto& [id, record] : context.history().records) known.push_back(id);
  if (!unread.empty() || std::find(known.begin(), known.end(), build) != known.end()) return {};
  const auto near = nearest(build, known);
  return {"no build called " + build + " is known here" +
          (near ? "; did you mean " + *near + "?" : std::string())};
}

Result<Json> disable_build(open::OpenContext& context, const CacheRun& run, const std::string& build) {
  std::vector<std::string> warnings = doubts_about(context, build);
  history::Record record;
  if (const history::Record* known = context.history().find(build); known != nullptr) {
    record = *known;
    if (known->state != history::State::disabled)
      record.facts = Json::object().set("covers", history::to_json(*known));
  }
  record.build = build;
  for (const auto& one : context.catalog().builds)
    if (one->id == build) record.engine = one->engine;
  record.state = history::State::disabled;
  record.host = open::parts_for(context.fingerprint(), {});
  record.last_seen = open::OpenContext::now();
  if (record.first_seen == 0) record.first_seen = record.last_seen;
  record.retry_after = 0;
  TRY(context.remember(std::move(record)));
  context.note("quarantine_disable", Json::object().set("build", build));
  const std::vector<std::string> others = context.warnings();
  warnings.insert(warnings.end(), others.begin(), others.end());
  if (run.prints_text())
    say("%s is not used any more (%s takes that back)\n", build.c_str(),
        with_given_flags("engine-cache quarantine enable " + build).c_str());
  run.warn(warnings);
  return Json::object().set("format", 1).set("disabled", build).set("warnings", Json::strings(warnings));
}

enum class Action { list, show, clear, disable, enable };

Result<Json> quarantine(const CacheRun& run, Action action, const std::string& given, bool all) {
  open::OpenContext context(run.settings);
  if (action != Action::clear) TRY(context.check_records());
  TRY_ASSIGN(const std::string build, build_meant(context, given, action == Action::disable));
  if (action == Action::list) return list_records(context, run);
  if (action == Action::show) return show_record(context, run, build);
  if (action == Action::disable) return disable_build(context, run, build);
  if (action == Action::clear && build.empty() && !all)
    return fail(wrong_usage("engine-cache", "quarantine clear needs a build id or --all"));
  if (all && !build.empty())
    return fail(wrong_usage("engine-cache", "quarantine clear takes a build id or --all, not both"));
  return clear_records(context, run, build, all, action == Action::enable);
}

}  // namespace

std::vector<CacheSubcommand> add_quarantine(CLI::App& app) {
  CLI::App* parser =
      app.add_subcommand("quarantine", "show and change which builds are not used on this machine");
  parser->require_subcommand(1);
  const auto build = std::make_shared<std::string>();
  const auto all = std::make_shared<bool>(false);
  std::vector<CacheSubcommand> actions;
  const auto add = [&](Action action, const char* name, const char* text) {
    CLI::App* added = parser->add_subcommand(name, text);
    actions.push_back(
        {added, [=](const CacheRun& run) { return quarantine(run, action, *build, *all); }, true});
    return added;
  };
  add(Action::list, "list", "list the quarantined and disabled builds");
  add(Action::show, "show", "show one record with its evidence")
      ->add_option("ID", *build, record_meaning)
      ->required();
  CLI::App* clearing = add(Action::clear, "clear", "let a quarantined build be tried again");
  clearing->add_option("ID", *build, record_meaning);
  clearing->add_flag("--all", *all, "clear all records, except those of disabled builds");
  add(Action::disable, "disable", "never use a build on this machine")
      ->add_option("ID", *build, build_id_meaning)
      ->required();
  add(Action::enable, "enable", "use a disabled build again")
      ->add_option("ID", *build, record_meaning)
      ->required();
  return actions;
}

}  // namespace enginehost::commands
