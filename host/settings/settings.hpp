// The settings of this process: flags, environment, the user's and the system's configuration, and policy.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/location.hpp"
#include "base/result.hpp"
#include "host/settings/declarations.hpp"

namespace enginehost::settings {

// A source of manifests. The location is an absolute folder or an http(s) URL.
struct Repository {
  std::string location;
  bool unsigned_allowed =
      false;           // named on the command line, allowed by a configuration file, or trusted by its place
  std::string source;  // "--repository", "ENGINEHOST_REPOSITORIES", the configuration file, "default"
  bool by_caller = false;  // from a flag or the API
  // The engines that it may offer; empty: every engine, but of those of EngineHost's own repository only with
  // a request that names it (see catalog::load_catalog).
  std::vector<std::string> engines = {};
  bool keep = false;  // what is fetched from it serves every request (engine-cache fetch --keep)
};

// One effective value and where it came from, for engine-info.
struct Setting {
  std::string key, value, source;
  bool locked = false;  // nobody below the system's file can change it
};

// The process environment that settings are read from, as a value: tests build one, programs take the
// process's.
struct Environment {
  std::map<std::string, std::string> variables;
  std::filesystem::path home;            // empty: there is none
  std::filesystem::path foreign_home;    // the folder that HOME names if it is another user's, so not `home`
  std::string warning;                   // says so
  std::filesystem::path current_folder;  // only to complete relative paths given as flags
  bool reads_user_config = true;         // the file that variables and home name
  // Empty: none. On Windows of_this_process() sets them to folders below %ProgramData%.
  std::filesystem::path system_config = "/etc/enginehost/config.json";
  std::filesystem::path system_layer = "/var/lib/enginehost";
  std::filesystem::path executable_folder,
      library_folder;   // of this program and of the library that contains this code
  std::string machine;  // the machine's identity (/etc/machine-id); only its digest is used
  std::vector<std::string> machine_files;  // the files that it was read from or searched in
  // Why the identity cannot be determined now. Another one must not replace it, because records of what is
  // quarantined on this machine would be lost.
  std::optional<Diagnosis> machine_failure;

  static Environment of_this_process();
  // Returns the variable's value; an empty one counts as unset.
  const std::string* find(const std::string& name) const;
};

// A license that the administrator accepts for everyone on this machine; with a digest only that text.
struct AcceptedLicense {
  std::string id, sha256;
};

// The system file's `policy` block without the values that it locks. policy.hpp applies it.
struct Policy {
  std::string file;  // empty: no policy
  // Unset: any; empty list: none. A location matches if it is in the list or lies below an entry.
  std::optional<std::vector<std::string>> allowed_repositories;
  std::optional<std::vector<std::string>>
      allowed_hosts;                  // the same; "example.org", "*.example.org", "example.org:8443"
  bool unsigned_repositories = true;  // false: not even one named on the command line
  bool loaded_libraries = true;       // false: a build never uses what the program had loaded
  bool updates = true;                // false: engine-cache update installs nothing, nor does an open
  bool from_index = true;             // false: no builds that are derived here (--from-index)
  std::map<std::string, std::string> versions;  // by engine: the range that may be used
  bool require_signatures = false;              // not even the local repository that is trusted by its place
  bool vendor_facts = true;  // false: only the table that was compiled in (host/vendor_facts)
  // A repository besides EngineHost's own whose vendor facts count; empty: none.
  std::string vendor_facts_repository;
  std::vector<AcceptedLicense> accepted_licenses;
  std::vector<std::string> forbidden_licenses;  // ids
  std::optional<std::int64_t>
      max_staleness_days;            // offline: how long after its date a signed index is still used
  std::vector<std::string> blocked;  // digests that must not be used, installed or not
  std::vector<std::string> locked;   // keys that nobody below the system's file can change

  bool locks(const std::string& key) const;
};

// The files that settings depend on. While none of them changes, the same flags and the same environment give
// the same settings.
struct Inputs {
  std::vector<std::string> files;     // read, or only checked for existence, owner and mode
  std::vector<std::string> writable;  // folders that were writable
  std::vector<std::string> runnable;  // files that were executable
};

struct Settings : DeclaredSettings {
  std::vector<Repository> repositories;  // in order, the strongest first, the default one last
  // EH-F22 ("place"): somebody else may change the cache, so that nothing is opened from it.
  std::optional<Diagnosis> cache_problem;
  std::string cache_owner;   // the other user that a named cache belongs to: "user 1000 (alice)"
  std::string state_set_by;  // the source that named state_folder; empty: none
  // The cache's own state folder, when it cannot be written and state_folder is another: what was quarantined
  // or agreed to there still counts. Otherwise empty.
  std::filesystem::path read_state_folder;
  bool refresh = false;  // see FlagValues
  Policy policy;
  std::vector<std::string> accept_licenses;  // ids, from the flags and the API
  bool by_application = false;               // see FlagValues
  std::vector<Setting> effective;            // every value above, policy and the proxies, with its source
  // Unknown keys, values that policy overrode, files of other users, an untrusted repository.
  std::vector<std::string> warnings;
  Inputs inputs;
  // Where EngineHost's own repository and the probe were looked for; empty if they were found or are not
  // wanted.
  std::vector<std::string> missing_repository, missing_helper;

  const Setting* find(const std::string& key) const;
};

// Merges the sources, strongest first: flags, ENGINEHOST_* variables, the user's file, the system's file,
// defaults. The system file's policy block overrides all of them. Lists of repositories add up in that order.
// Reads files and creates nothing. Any thread. Errors: EH-P01: a flag contradicts policy ("file", "key",
// "policy", "what", "flag"). EH-P02: a value cannot be used ("file" or "variable" or "flag", "key",
// "problem", and "exposed" if somebody else may change it); EH-P45 through the API ("argument", "problem").
// EH-M01: a configuration file is not JSON.
Result<Settings> load_settings(const FlagValues& flags, const Environment& environment);

// Returns how many bytes of an installed build an open hashes (Settings::verify): none, 32 MiB, all.
std::uint64_t bytes_to_hash(const Settings& settings);

// Adds to a failure to write (EH-F16) in a state folder that was named explicitly that it is there ("place" =
// "state") and which source named it ("state_set_by"), because another cache would not help. Other failures
// stay unchanged.
Diagnosis mark_as_state(Diagnosis diagnosis, const Settings& settings);
template <class Value>
Result<Value> mark_as_state(Result<Value> result, const Settings& settings) {
  if (!result) result.error() = mark_as_state(std::move(result.error()), settings);
  return result;
}

// Returns whether load_settings() reads the variable of that name, besides home and folders
// (settings_key.hpp).
bool is_settings_variable(std::string_view name);

// Splits a list of repositories in one text, separated by ";", or by ":" where that cannot be part of a URL.
std::vector<std::string> split_locations(const std::string& text);

using enginehost::is_url;

}  // namespace enginehost::settings
