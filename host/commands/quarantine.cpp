#include "host/commands/quarantine.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

#include "host/commands/common.hpp"
#include "host/explain/explain.hpp"
#include "host/open/world.hpp"

namespace enginehost::commands {
namespace {

std::string time_text(std::int64_t seconds) {
  if (seconds == 0) return "never by itself";
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string line_of(const history::Record& record) {
  return record.build + "  " + history::name_of(record.state) +
         (record.diagnosis.is_null() ? "" : ": " + explain::one_line(explain::diagnosis_from_json(record.diagnosis)));
}

std::string full_text(const history::Record& record) {
  std::string text = line_of(record) + "\n";
  text += "  first seen   " + time_text(record.first_seen) + "\n";
  text += "  last seen    " + time_text(record.last_seen) + "\n";
  text += "  how often    " + std::to_string(record.count) + "\n";
  text += "  tried again  ";
  text += record.state == history::State::disabled ? "never: it was disabled by hand (enable takes that back)"
          : record.retry_after != 0                ? "after " + time_text(record.retry_after)
                                                   : "when one of the files below changes";
  text += "\n";
  for (const history::Witness& witness : record.witnesses)
    text += "  depends on   " + witness.path + (witness.present ? "" : "  (which is not there)") + "\n";
  if (!record.diagnosis.is_null())
    text += "\n" + explain::describe(explain::diagnosis_from_json(record.diagnosis)) + "\n";
  return text + "\nto try it again now: engine-cache quarantine clear " + record.build + "\n";
}

Diagnosis unknown(const std::string& build) {
  return std::move(diagnose("EH-S20").with("build", build));
}

// Every record that is not a proof, or the one asked for.
int show(open::World& world, const QuarantineFlags& flags, bool json) {
  const bool one = flags.action == "show";
  if (one && world.history().find(flags.build) == nullptr) return end_with(unknown(flags.build), json);
  Json list = Json::array();
  std::string text;
  for (const auto& [build, record] : world.history().records) {
    if (one ? build != flags.build : record.state == history::State::proven) continue;
    list.push(history::to_json(record));
    text += one ? full_text(record) : line_of(record) + "\n";
  }
  if (json)
    print(Json::object().set("format", 1).set("records", std::move(list)));
  else
    std::printf("%s", text.empty() ? "nothing is set aside on this machine\n" : text.c_str());
  return 0;
}

int clear(open::World& world, const QuarantineFlags& flags, bool json) {
  std::vector<std::string> builds;
  for (const auto& [build, record] : world.history().records) {
    const bool cleared_by_all = record.state != history::State::proven && record.state != history::State::disabled;
    if (flags.all ? cleared_by_all : build == flags.build) builds.push_back(build);
  }
  if (builds.empty() && !flags.all) return end_with(unknown(flags.build), json);
  for (const std::string& build : builds) world.forget(build);
  if (json)
    print(Json::object().set("format", 1).set("cleared", Json::strings(builds)));
  else
    std::printf("%zu cleared\n", builds.size());
  return 0;
}

int disable(open::World& world, const QuarantineFlags& flags, bool json) {
  history::Record record;
  if (const history::Record* known = world.history().find(flags.build)) record = *known;
  record.build = flags.build;
  record.state = history::State::disabled;
  record.host = world.fingerprint();
  record.last_seen = open::World::now();
  if (record.first_seen == 0) record.first_seen = record.last_seen;
  record.retry_after = 0;
  world.remember(std::move(record));
  if (json)
    print(Json::object().set("format", 1).set("disabled", flags.build));
  else
    std::printf("%s is not used any more (engine-cache quarantine enable takes that back)\n", flags.build.c_str());
  print_warnings(world.warnings(), {}, json);
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
  open::World world(settings);
  if (flags.action == "list" || flags.action == "show") return show(world, flags, json);
  if (flags.action == "disable") return disable(world, flags, json);
  if (flags.action == "clear" && flags.build.empty() && !flags.all)
    return end_with(std::move(diagnose("EH-P40")
                                  .with("program", "engine-cache")
                                  .with("problem", "quarantine clear needs a build id or --all")),
                    json);
  return clear(world, flags, json);
}

}  // namespace enginehost::commands
