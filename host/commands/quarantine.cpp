#include "host/commands/quarantine.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/quarantine_text.hpp"
#include "host/commands/request_args.hpp"
#include "host/commands/say.hpp"
#include "host/open/open_context.hpp"
#include "host/open/this_machine.hpp"

namespace enginehost::commands {
namespace {

Diagnosis unknown(const std::string& build) { return std::move(diagnose("EH-S20").with("build", build)); }

// Only a disable is taken back: a quarantine that came by itself ends by `clear`, and a proof is none.
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

// The record of that build that no longer holds, or that holds for another program; or nullptr.
const history::Stale* ended(open::OpenContext& context, const std::string& build) {
  for (const history::Stale& stale : context.stale_records())
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
    say("%s", full_text(shown, has_ended ? stale->why : std::string()).c_str());
  }
  return 0;
}

// Every record that is not a proof; apart from them those that no longer hold, since people ask where they
// went.
int list(open::OpenContext& context, bool json) {
  Json records = Json::array(), gone = Json::array();
  std::string text;
  for (const auto& [build, record] : context.history().records) {
    if (!history::is_on_record_against(record)) continue;
    records.push(history::to_json(record));
    text += line_of(record) + "\n";
  }
  for (const history::Stale& stale : context.stale_records()) {
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
  // What a record said that cannot be read does not count any more: a disabled build is used again.
  const std::vector<std::string>& unreadable = context.record_warnings();
  if (json)
    print(Json::object()
              .set("format", 1)
              .set("records", std::move(records))
              .set("ended", std::move(gone))
              .set("warnings", Json::strings(unreadable)));
  else if (text.empty())
    say("nothing%s is set aside on this machine\n", unreadable.empty() ? "" : " that can be read");
  else
    say("%s", text.c_str());
  print_warnings(unreadable, {}, json);
  return 0;
}

// Ends what is known of a build; true when it was disabled by hand. One that was quarantined by itself before
// that goes back to it when it is enabled.
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
  for (const history::Stale& stale : context.stale_records())
    if (!stale.program.empty()) add(stale.record);
  // A record that cannot be read may have been a disable.
  const std::vector<std::string>& unreadable = context.unreadable_records();
  if (!flags.all && builds.empty() &&
      std::find(unreadable.begin(), unreadable.end(), flags.build) != unreadable.end())
    builds.push_back(flags.build);
  // One that is named may be cleared without having been read.
  if (builds.empty() || flags.all)
    if (const auto records = context.check_records(); !records) return end_with(records.error(), json);
  if (builds.empty() && !flags.all) {
    // What cannot be read may be what was asked for.
    Diagnosis diagnosis = unknown(flags.build);
    for (const std::string& warning : context.record_warnings()) diagnosis.with("warning", warning);
    print_warnings(context.record_warnings(), {}, json);
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
      say("%s was disabled: that is ended, too, and it may be used again\n", build.c_str());
  print_warnings(warnings, {}, json);
  return 0;
}

// A name that no repository, no installed build and no record knows may be a slip; it may also come later.
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
  CLI::App* quarantine = app.add_subcommand("quarantine", "what is set aside on this machine, and why");
  quarantine->require_subcommand(1);
  quarantine->fallthrough();
  const auto add = [&](const char* name, const char* text) {
    CLI::App* action = quarantine->add_subcommand(name, text);
    action->callback([&flags, name] { flags.action = name; });
    return action;
  };
  add("list", "everything that is set aside");
  add("show", "one record with its evidence")->add_option("ID", flags.build)->required();
  CLI::App* clearing = add("clear", "try a build again");
  clearing->add_option("ID", flags.build);
  clearing->add_flag("--all", flags.all, "everything that is not disabled");
  add("disable", "never use a build")->add_option("ID", flags.build)->required();
  add("enable", "take a disable back")->add_option("ID", flags.build)->required();
  return quarantine;
}

int run_quarantine(const settings::Settings& settings, const QuarantineFlags& flags, bool json) {
  open::OpenContext context(settings);
  if (flags.action != "clear")
    if (const auto records = context.check_records(); !records) return end_with(records.error(), json);
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
