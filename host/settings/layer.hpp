// One source of settings: what a file, the environment or the command line says, before sources are weighed.
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

// What one source sets; the rest is for a weaker source to say.
struct Layer {
  // As it is shown: "--cache", "the application (request.cache)", "ENGINEHOST_CACHE" are derived per key of
  // "flag", "application", "environment".
  std::string source;
  bool is_callers() const { return source == "flag" || source == "application"; }
  std::optional<std::vector<Repository>> repositories;
  std::optional<bool> repositories_default, offline;
  std::optional<std::string> cache, state, flavor, device, log, force, helper, package_index;
  std::optional<std::vector<std::string>> system_layers, probe_launcher;
  std::optional<std::vector<std::string>> installations;
  std::optional<std::vector<std::string>> plain_http_registries, registry_mirrors;
  std::optional<std::vector<Mirror>> mirrors;
  std::optional<std::string> extra_ca, proxy, no_proxy;
  std::optional<std::int64_t> audit_rotate_bytes;
  std::optional<std::int64_t> max_artifact_bytes, max_unpacked_bytes, connect_timeout, stall_timeout, retries,
      probe_deadline;
  std::optional<std::int64_t> cache_max_bytes;
};

// A configuration file: its layer and, for the system's, its policy.
struct ConfigFile {
  Layer layer;
  Layer locked;                          // values that the policy block fixes
  std::vector<std::string> locked_keys;  // whose value of this file, or else the default, is fixed
  Policy policy;
  std::vector<std::string> warnings;
};

// Reads a configuration file; an absent one is an empty ConfigFile unless `must_exist`. A policy block counts
// only in the system's file.
Result<ConfigFile> read_config_file(const std::filesystem::path& file, bool is_system_file, bool must_exist);

// The ENGINEHOST_* variables. EH-P02 with "variable" for a value that cannot be used.
Result<Layer> layer_of_environment(const Environment& environment);

// The flags; relative folders are completed.
Result<Layer> layer_of_flags(const FlagValues& flags, const Environment& environment);

// Who said what a flag or the API says: "--repository", "the application (request.repositories)".
std::string said_by(std::string_view key, bool by_application);

// "true", "1", "yes", "on" and their opposites.
std::optional<bool> parse_switch(const std::string& text);
bool is_log_level(const std::string& text);
// What is wrong with a list of devices ("cpu", "cuda:0,cpu"); empty when nothing is, and for an empty text.
std::string not_a_device(const std::string& text);

}  // namespace enginehost::settings
