// What this process was told to do: flags, environment, the user's and the system's configuration, and
// policy.
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

namespace enginehost::settings {

// Where manifests come from. A location is an absolute folder or an http(s) URL.
struct Repository {
  std::string location;
  bool unsigned_allowed =
      false;           // named on the command line, said so in a configuration file, or trusted by its place
  std::string source;  // "--repository", "ENGINEHOST_REPOSITORIES", the configuration file, "default"
  bool by_caller = false;  // a flag, or the API
};

// One effective value and where it came from, for engine-info.
struct Setting {
  std::string key, value, source;
  bool locked = false;  // nobody below the system's file can change it
};

// Another place that holds the same files: what a URL that begins with `of` names is looked for below `use`
// first.
struct Mirror {
  std::string of, use;  // both http(s) URLs that end in "/"
  bool operator==(const Mirror&) const = default;
};

// What was given on the command line or through the API; what is not set falls through to the next source.
struct FlagValues {
  std::vector<std::string> repositories;   // relative folders are taken from Environment::current_folder
  std::vector<std::string> installations;  // the same
  std::optional<std::string> cache, flavor, device, log, force, helper;
  std::optional<bool> offline;
  std::optional<std::vector<std::string>> probe_launcher;
  std::vector<std::string> accept_licenses;
  bool by_application = false;  // through the API: there are no flags that could be spoken of
};

// The world that settings are read from, as a value: tests build one, programs take that of the process.
struct Environment {
  std::map<std::string, std::string> variables;
  std::filesystem::path home;            // empty: there is none
  std::filesystem::path current_folder;  // only to complete relative paths given as flags
  bool reads_user_config = true;         // the one that variables and home name
  // Empty: there is none. On Windows of_this_process() names them below %ProgramData%.
  std::filesystem::path system_config = "/etc/enginehost/config.json";
  std::filesystem::path system_layer = "/var/lib/enginehost";
  std::filesystem::path executable_folder,
      library_folder;   // of this program and of the library with this code
  std::string machine;  // the machine's identity (/etc/machine-id); only its digest is ever used
  std::vector<std::string> machine_files;  // that it was read from, or looked for in
  // Why the identity cannot be told now. Another one must not stand for it: what is quarantined on this
  // machine would be forgotten.
  std::optional<Diagnosis> machine_failure;

  static Environment of_this_process();
  // The variable's value; an empty one counts as not set.
  const std::string* find(const std::string& name) const;
};

// Bounds on what is fetched.
struct DownloadLimits {
  std::uint64_t max_artifact_bytes = std::uint64_t{16} << 30;
  std::uint64_t max_unpacked_bytes = std::uint64_t{64} << 30;
  int connect_timeout_seconds = 15;
  int stall_timeout_seconds = 30;  // without a byte
  int retries = 4;
};

// A license that the administrator accepts for everyone on this machine; with a digest only that text.
struct AcceptedLicense {
  std::string id, sha256;
};

// The system file's `policy` block beyond the values that it locks. policy.hpp asks it.
struct Policy {
  std::string file;  // empty: no policy
  // Not set: any; an empty list: none. A location is one of the list or lies below one.
  std::optional<std::vector<std::string>> allowed_repositories;
  std::optional<std::vector<std::string>>
      allowed_hosts;                  // the same; "example.org", "*.example.org", "example.org:8443"
  bool unsigned_repositories = true;  // false: not even one named on the command line
  bool require_signatures = false;    // not even the local one that is trusted by its place
  std::vector<AcceptedLicense> accepted_licenses;
  std::vector<std::string> forbidden_licenses;     // ids
  std::optional<std::int64_t> max_staleness_days;  // offline: how long after its date a signed index serves
  std::vector<std::string> blocked;                // digests that must not be used, installed or not
  std::vector<std::string> locked;                 // keys that nobody below can change

  bool locks(const std::string& key) const;
};

// What was looked at on this machine's disk: while all of it stays, the same flags and the same environment
// give the same settings.
struct Inputs {
  std::vector<std::string> files;     // read, or only found to be there or not
  std::vector<std::string> writable;  // folders that may be written
  std::vector<std::string> runnable;  // files that may be run
};

struct Settings {
  std::vector<Repository> repositories;  // in order, the strongest first, the default one last
  bool repositories_default = true;
  std::filesystem::path cache_folder;
  std::vector<std::filesystem::path> system_layers;  // read-only caches looked into before cache_folder
  std::vector<std::filesystem::path>
      installations;                   // of other programs, whose engines may be opened in place
  std::filesystem::path state_folder;  // empty: state lives in memory (a warning says so)
  std::string state_set_by;            // who named that folder; empty: nobody did
  // The cache's own, where it cannot be written and state_folder is another: what was quarantined or agreed
  // to there still counts. Else empty.
  std::filesystem::path read_state_folder;
  std::string flavor, device;  // empty: any
  bool offline = false;
  std::string log = "warning";  // "error", "warning", "info", "debug"
  std::string force;            // a build id, for one run
  std::vector<std::string> probe_launcher;
  int probe_deadline_seconds =
      30;  // for a build to come up in the helper, before it is taken for one that hangs
  std::uint64_t cache_max_bytes = 0;  // what `engine-cache gc` keeps the cache below; 0: no bound
  std::filesystem::path helper;       // enginehost-probe; empty: not found
  std::string package_index;          // used only where pip cannot be asked
  std::vector<std::string>
      plain_http_registries;                  // HOST[:PORT] of OCI registries that may be asked without TLS
  std::vector<std::string> registry_mirrors;  // "HOST[:PORT]=MIRROR[:PORT]": asked before HOST
  std::vector<Mirror> mirrors;                // in order
  std::string proxy, no_proxy;                // empty: what the environment says, as libcurl's users know it
  std::filesystem::path extra_ca;             // PEM certificates trusted beside the system's; empty: none
  std::uint64_t audit_rotate_bytes = 1u << 20;  // a longer audit log is put aside and a new one begun
  DownloadLimits downloads;
  Policy policy;
  std::vector<std::string>
      accept_licenses;                // ids, of the flags or the API, and the policy's whatever the text
  bool by_application = false;        // as FlagValues says
  std::vector<Setting> effective;     // every value above, policy and the proxies, with its source
  std::vector<std::string> warnings;  // unknown keys, values that policy overrode, a repository not trusted
  Inputs inputs;

  const Setting* find(const std::string& key) const;
};

// Strongest first: flags, ENGINEHOST_* variables, the user's file, the system's file, defaults; the system
// file's policy block stands above all. Lists of repositories add up in that order. Reads files, creates
// nothing, any thread. EH-P01: a flag contradicts policy ("file", "key", "policy", "what", "flag"). EH-P02: a
// value cannot be used ("file" or "variable" or "flag", "key", "problem"); EH-P45 of the API ("argument",
// "problem"). A configuration file that is not JSON: EH-M01.
Result<Settings> load_settings(const FlagValues& flags, const Environment& environment);

// Says of a failure to write (EH-F16) where somebody named the state folder that it is there ("place" =
// "state") and who did ("state_set_by"): no other cache would do. Any other stays as it is.
Diagnosis mark_as_state(Diagnosis diagnosis, const Settings& settings);
template <class Value>
Result<Value> mark_as_state(Result<Value> result, const Settings& settings) {
  if (!result) result.error() = mark_as_state(std::move(result.error()), settings);
  return result;
}

// Whether load_settings() asks for the variable of that name, beside home and folders (deciding.hpp).
bool is_settings_variable(std::string_view name);

// A list of repositories as one text: separated by ";", or by ":" where that cannot be part of a URL.
std::vector<std::string> split_locations(const std::string& text);

using enginehost::is_url;

}  // namespace enginehost::settings
