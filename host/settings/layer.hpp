// One source of settings (a file, the environment or the command line), before sources are merged.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::settings {

// The values that one source sets; unset values come from weaker sources.
struct Layer {
  // For display. "flag", "application" and "environment" become, per key, "--cache", "the application
  // (request.cache)" or "ENGINEHOST_CACHE".
  std::string source;
  bool is_callers() const { return source == "flag" || source == "application"; }
  std::optional<std::vector<Repository>> repositories;
  Json values = Json::object();  // by key, checked
};

// A configuration file: its layer and, for the system's file, its policy.
struct ConfigFile {
  Layer layer;
  Layer locked;                          // values that the policy block fixes
  std::vector<std::string> locked_keys;  // keys fixed to this file's value, or else to the default
  std::vector<std::string> newer_keys;   // keys of the policy that this version may pass over
  Policy policy;
  std::vector<std::string> warnings;
  std::string exposed;  // the path that somebody else may change, so that the file is left out
};

// Reads a configuration file; a missing one gives an empty ConfigFile unless `must_exist`. A policy block
// counts only in the system's file. A file that somebody else may change is left out, with a warning. It is
// EH-P02 ("exposed") if it is the system's, because a policy must not be lost, or if somebody named it
// (`must_exist`).
Result<ConfigFile> read_config_file(const std::filesystem::path& file, bool is_system_file, bool must_exist);

// Reads the ENGINEHOST_* variables. Error: EH-P02 with "variable" for a value that cannot be used.
Result<Layer> layer_of_environment(const Environment& environment);

// Reads the flags and completes relative folders.
Result<Layer> layer_of_flags(const FlagValues& flags, const Environment& environment);

// EH-P02: a value cannot be used. `kind`: "file", "variable" or "flag"; `name`: which one.
Diagnosis unusable(Key kind, std::string_view name, std::string_view key, std::string_view problem);

// Returns what is wrong with the location of a repository; empty: nothing. The second looks at URLs only.
std::string not_a_location(const std::string& location);
std::string not_one_place(const std::string& location);

// Names the flag or the API member that a value came from: "--repository", "the application
// (request.repositories)".
std::string said_by(std::string_view key, bool by_application);

}  // namespace enginehost::settings
