#include "host/commands/quarantine.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "host/commands/build_names.hpp"
#include "host/commands/common.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/quarantine_text.hpp"
#include "host/commands/request_args.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"

namespace enginehost::commands {
namespace {

constexpr const char* record_meaning =
    "a build of quarantine list: its id, a unique beginning of it, ENGINE or ENGINE@VERSION";

// Returns the id of the build that was named. `disable` knows the installed builds, too; the other actions
// only builds with a record.
Result<std::string> build_meant(open::OpenContext& context, const QuarantineFlags& flags) {
  if (flags.build.empty()) return flags.build;
  std::vector<KnownBuild> known;
  for (const cache::Installed& one : context.store().list())
    known.push_back({one.build, one.engine, one.version, one.flavor});
  std::set<std::string> recorded;
  for (const auto& [build, record] : context.history().records)
    if (history::is_on_record_against(record)) recorded.insert(build);
  for (const history::Stale& stale : context.records().stale) recorded.insert(stale.record.build);
  recorded.insert(context.records().unreadable.begin(), context.records().unreadable.end());
  if (flags.action != "disable")
    std::erase_if(known, [&](const KnownBuild& one) { return !recorded.contains(one.id); });
  for (const std::string& build : recorded)
    if (std::none_of(known.begin(), known.end(), [&](const KnownBuild& one) { return one.id == build; }))
      known.push_back({build, {}, {}, {}});
  return build_named(flags.build, known);
}

Diagnosis unknown(const std::string& build) { return std::move(diagnose("EH-S20").with("build", build)); }

// `enable` takes back a disable only. A quarantine after a failure ends by `clear`.
Diagnosis not_disabled(const history::Record& record) {
  return std::move(unknown(record.build).with("state", history::name_of(record.state)));
}

Json ended_document(const history::Stale& stale) {
  return Json::object().set("record", history::to_json(stale.record)).set("why", stale.why);
}

// "reference-1.0  unfit: …  (only in /usr/bin/player)"
std::string line_elsewhere(const history::Stale& stale) {
  return line_of(stale.record) + "  (only in the program " + stale.program + ")\n";
}

// Returns the record of the build that no longer holds, or that holds for another program; else nullptr.
const history::Stale* ended(open::OpenContext& context, const std::string& build) {
  for (const history::Stale& stale : context.records().stale)
    if (stale.record.build == build) return &stale;
  return nullptr;
}

int show(open::OpenContext& context, const QuarantineFlags& flags, bool json) {
  const history::Record* record = context.history().find(flags.build);
  const history::Stale* stale = record == nullptr ? ended(context, flags.build) : nullptr;
  if (record == nullptr && stale == nullptr) return end_with(unknown(flags.build), json);
  const history::Record& shown = record != nullptr ? *record : stale->record;
  const bool has_ended = stale != nullptr && stale->program.empty();
  if (json) {
    Json records = Json::array(), gone = Json::array();
    if (has_ended)
      gone.push(ended_document(*stale));
    else
      records.push(history::to_json(shown));
    print(Json::object().set("format", 1).set("records", std::move(records)).set("ended", std::move(gone)));
  } else {
    say_text(full_text(shown, has_ended ? stale->why : std::string()));
  }
  return 0;
}

// Lists every record that is not a proof, and separately the records that no longer hold, so that none
// disappears without a word.
int list(open::OpenContext& context, bool json) {
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
      text += line_elsewhere(stale);
      continue;
    }
    gone.push(ended_document(stale));
    text += stale.record.build + "  was " + history::name_of(stale.record.state) +
            ", is tried again: " + stale.why + "\n";
  }
  // An unreadable record no longer counts, so a disabled build would be used again.
  const std::vector<std::string>& unreadable = context.records().warnings;
  if (json)
    print(Json::object()
              .set("format", 1)
              .set("records", std::move(records))
              .set("ended", std::move(gone))
              .set("warnings", Json::strings(unreadable)));
  else if (text.empty())
    say("%s is quarantined on this machine\n",
        unreadable.empty() ? "no build" : "no build with a readable record");
  else
    say_text(text);
  print_warnings(unreadable, {}, json);
  return 0;
}

// Ends the record of a build. Returns true if the build was disabled by hand. A build that was quarantined
// before it was disabled is quarantined again after `enable`.
Result<bool> end(open::OpenContext& context, const std::string& build, const std::string& action) {
  const history::Record* const known = context.history().find(build);
  const bool disabled = known != nullptr && known->state == history::State::disabled;
  TRY(context.check_may_end(build));
  const Json covered = known != nullptr ? known->facts["covers"] : Json();
  auto before = history::record_from_json(covered, build);
  if (action == "enable" && before)
    TRY(context.remember(std::move(*before)));
  else
    TRY(context.forget(build));
  context.note("quarantine_" + action, Json::object().set("build", build));
  return disabled;
}

int clear(open::OpenContext& context, const QuarantineFlags& flags, bool json) {
  if (const auto place = context.check_state_place(); !place) return end_with(place.error(), json);
  const history::Record* const known = context.history().find(flags.build);
  if (flags.action == "enable" && known != nullptr && known->state != history::State::disabled)
    return end_with(not_disabled(*known), json);
  std::vector<std::string> builds;
  const auto add = [&](const history::Record& record) {
    const bool cleared_by_all =
        history::is_on_record_against(record) && record.state != history::State::disabled;
    if (flags.all ? cleared_by_all : record.build == flags.build) builds.push_back(record.build);
  };
  for (const auto& [build, record] : context.history().records) add(record);
  for (const history::Stale& stale : context.records().stale)
    if (!stale.program.empty()) add(stale.record);
  // An unreadable record may be a disable.
  const std::vector<std::string>& unreadable = context.records().unreadable;
  if (!flags.all && builds.empty() &&
      std::find(unreadable.begin(), unreadable.end(), flags.build) != unreadable.end())
    builds.push_back(flags.build);
  // A named build may be cleared although its record cannot be read.
  if (builds.empty() || flags.all)
    if (const auto records = context.check_records(); !records) return end_with(records.error(), json);
  if (builds.empty() && !flags.all) {
    // An unreadable record may be the one that was named.
    Diagnosis diagnosis = unknown(flags.build);
    for (const std::string& warning : context.records().warnings) diagnosis.with("warning", warning);
    print_warnings(context.records().warnings, {}, json);
    return end_with(std::move(diagnosis), json);
  }
  std::vector<std::string> enabled;
  for (const std::string& build : builds) {
    auto ended = end(context, build, flags.action);
    if (!ended) return end_with(ended.error(), json);
    if (*ended) enabled.push_back(build);
  }
  const std::vector<std::string> warnings = context.warnings();
  if (json)
    print(Json::object()
              .set("format", 1)
              .set("cleared", Json::strings(builds))
              .set("enabled", Json::strings(enabled))
              .set("warnings", Json::strings(warnings)));
  else if (flags.action == "enable")
    say("%s may be used again\n", flags.build.c_str());
  else
    say("%zu cleared\n", builds.size());
  if (flags.action == "clear" && !json)
    for (const std::string& build : enabled)
      say("%s was disabled by hand: it may be used again, too\n", build.c_str());
  print_warnings(warnings, {}, json);
  return 0;
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

int disable(open::OpenContext& context, const QuarantineFlags& flags, bool json) {
  std::vector<std::string> warnings = doubts_about(context, flags.build);
  history::Record record;
  if (const history::Record* known = context.history().find(flags.build); known != nullptr) {
    record = *known;
    if (known->state != history::State::disabled)
      record.facts = Json::object().set("covers", history::to_json(*known));
  }
  record.build = flags.build;
  record.state = history::State::disabled;
  record.host = open::parts_for(context.fingerprint(), {});
  record.last_seen = open::OpenContext::now();
  if (record.first_seen == 0) record.first_seen = record.last_seen;
  record.retry_after = 0;
  if (const auto kept = context.remember(std::move(record)); !kept) return end_with(kept.error(), json);
  context.note("quarantine_disable", Json::object().set("build", flags.build));
  const std::vector<std::string> others = context.warnings();
  warnings.insert(warnings.end(), others.begin(), others.end());
  if (json)
    print(Json::object()
              .set("format", 1)
              .set("disabled", flags.build)
              .set("warnings", Json::strings(warnings)));
  else
    say("%s is not used any more (%s takes that back)\n", flags.build.c_str(),
        with_given_flags("engine-cache quarantine enable " + flags.build).c_str());
  print_warnings(warnings, {}, json);
  return 0;
}

}  // namespace

CLI::App* add_quarantine(CLI::App& app, QuarantineFlags& flags) {
  CLI::App* quarantine =
      app.add_subcommand("quarantine", "show and change which builds are not used on this machine");
  quarantine->require_subcommand(1);
  quarantine->fallthrough();
  const auto add = [&](const char* name, const char* text) {
    CLI::App* action = quarantine->add_subcommand(name, text);
    action->callback([&flags, name] { flags.action = name; });
    return action;
  };
  add("list", "list the quarantined and disabled builds");
  add("show", "show one record with its evidence")->add_option("ID", flags.build, record_meaning)->required();
  CLI::App* clearing = add("clear", "let a quarantined build be tried again");
  clearing->add_option("ID", flags.build, record_meaning);
  clearing->add_flag("--all", flags.all, "clear all records, except those of disabled builds");
  add("disable", "never use a build on this machine")
      ->add_option("ID", flags.build, build_id_meaning)
      ->required();
  add("enable", "use a disabled build again")->add_option("ID", flags.build, record_meaning)->required();
  return quarantine;
}

int run_quarantine(const settings::Settings& settings, const QuarantineFlags& given, bool json) {
  open::OpenContext context(settings);
  if (given.action != "clear")
    if (const auto records = context.check_records(); !records) return end_with(records.error(), json);
  QuarantineFlags flags = given;
  if (auto build = build_meant(context, given)) {
    flags.build = std::move(*build);
  } else {
    return end_with(build.error(), json);
  }
  if (flags.action == "list") return list(context, json);
  if (flags.action == "show") return show(context, flags, json);
  if (flags.action == "disable") return disable(context, flags, json);
  if (flags.action == "clear" && flags.build.empty() && !flags.all)
    return end_with(wrong_usage("engine-cache", "quarantine clear needs a build id or --all"), json);
  if (flags.all && !flags.build.empty())
    return end_with(wrong_usage("engine-cache", "quarantine clear takes a build id or --all, not both"),
                    json);
  return clear(context, flags, json);
}

}  // namespace enginehost::commands
