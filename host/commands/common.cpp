#include "host/commands/common.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/printable.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

bool json_asked_for(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* argument) { return std::strcmp(argument, "--json") == 0; });
}

}  // namespace

void CommonFlags::add_to(CLI::App& app) {
  app.set_version_flag("--version", std::string("enginehost ") + ENGINEHOST_VERSION);
  app.add_flag("--json", json, "print exactly one JSON document");
  app.add_option("--repository", repositories,
                 "a repository (folder or URL), before the configured ones; repeatable");
  app.add_option(
      "--installation", installations,
      "a conda environment, a Python environment or a folder of libraries whose engine may be opened "
      "where it lies; repeatable");
  app.add_option("--cache", cache, "the cache folder");
  app.add_flag("--offline", offline, "open no socket: choose among what is installed or lies in folders");
  app.add_option("--accept-license", accept_licenses, "accept the licence with this id; repeatable");
  app.add_flag("--quiet", quiet, "no progress, no warnings");
  app.add_flag("--verbose", verbose, "say more");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    Diagnosis diagnosis = diagnose("EH-P40");
    diagnosis.with("program", app.get_name()).with("problem", error.what());
    return end_with(diagnosis, json_asked_for(argc, argv));
  }
}

Result<settings::Settings> settings_of(const CommonFlags& flags, settings::FlagValues values) {
  values.repositories = flags.repositories;
  values.installations = flags.installations;
  values.accept_licenses = flags.accept_licenses;
  if (!flags.cache.empty()) values.cache = flags.cache;
  if (flags.offline) values.offline = true;
  if (flags.verbose) values.log = "info";
  return settings::load_settings(values, settings::Environment::of_this_process());
}

Result<settings::Settings> settings_without_configuration(const CommonFlags& flags) {
  settings::Environment environment = settings::Environment::of_this_process();
  std::erase_if(environment.variables, [](const auto& variable) {
    return variable.first.starts_with("ENGINEHOST_") && variable.first != "ENGINEHOST_CACHE";
  });
  environment.reads_user_config = false;
  environment.system_config.clear();
  settings::FlagValues values;
  if (!flags.cache.empty()) values.cache = flags.cache;
  values.offline = true;
  auto settings = settings::load_settings(values, environment);
  if (settings) return settings;
  environment.variables.erase("ENGINEHOST_CACHE");
  return settings::load_settings(values, environment);
}

int end_with(const Diagnosis& diagnosis, bool json) {
  if (json)
    print(Json::object().set("format", 1).set("diagnosis", explain::to_json(diagnosis)));
  else
    say_aside("%s\n", explain::describe(diagnosis).c_str());
  return static_cast<int>(explain::exit_status(diagnosis));
}

void print(const Json& document) { std::printf("%s\n", document.dump(2).c_str()); }

void print_warnings(const std::vector<std::string>& warnings, const std::vector<Diagnosis>& diagnoses,
                    bool quiet) {
  if (quiet) return;
  for (const std::string& warning : warnings) say_aside("warning: %s\n", printable_line(warning).c_str());
  for (const Diagnosis& warning : diagnoses) say_aside("warning: %s\n", explain::one_line(warning).c_str());
}

int guarded(bool json, const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return end_with(std::move(diagnose("EH-P99").with("problem", error.what())), json);
  }
}

}  // namespace enginehost::commands
