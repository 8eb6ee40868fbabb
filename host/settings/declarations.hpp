// The settings that files, variables and flags can set. Each is a member and a declaration; the readers of
// all sources, the flags of the commands, reports and the test of docs/settings.md follow from these.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.hpp"
#include "base/paths.hpp"

namespace enginehost::settings {

// A place that holds the same files: what a URL that begins with `of` names is first searched below `use`.
struct Mirror {
  std::string of, use;  // both http(s) URLs that end in "/"
  bool operator==(const Mirror&) const = default;
};

struct DownloadLimits {
  std::uint64_t max_artifact_bytes = std::uint64_t{16} << 30;
  std::uint64_t max_unpacked_bytes = std::uint64_t{64} << 30;
  int connect_timeout_seconds = 15;
  int stall_timeout_seconds = 30;  // without receiving a byte
  int retries = 4;
  int connections = 8;  // of one download, at most
};

// The values and their defaults.
struct DeclaredSettings {
  bool repositories_default = true;
  std::filesystem::path cache_folder;
  std::vector<std::filesystem::path>
      installations;  // of other programs, whose engines may be opened in place
  std::vector<std::filesystem::path> system_layers;  // read-only caches that are searched before cache_folder
  std::filesystem::path state_folder;  // empty: state is only kept in memory (a warning says so)
  std::filesystem::path helper;        // enginehost-probe; empty: not found
  std::string flavor, device;          // empty: any
  std::string verify = "stamps";    // what an open checks of an installed build: "stamps", "sample", "full"
  std::string update = "report";    // a newer build beside an installed one: "report", "open", "never"
  std::string force;                // a build id, for one run
  std::filesystem::path lock_file;  // only the builds that it names are opened; empty: none
  std::vector<std::string> probe_launcher;
  std::string package_index;  // used in place of pip's; empty: pip's
  std::vector<std::string>
      plain_http_registries;                  // HOST[:PORT] of OCI registries that may be used without TLS
  std::vector<std::string> registry_mirrors;  // "HOST[:PORT]=MIRROR[:PORT]": tried before HOST
  std::vector<Mirror> mirrors;                // in order
  std::string proxy, no_proxy;                // empty: the environment's, with libcurl's variables
  std::filesystem::path extra_ca;  // PEM certificates trusted in addition to the system's; empty: none
  bool offline = false;
  std::string log = "warning";  // "error", "warning", "info", "debug"
  DownloadLimits downloads;
  std::uint64_t cache_max_bytes = 0;  // the limit that `engine-cache gc` enforces; 0: none
  int probe_deadline_seconds =
      30;  // how long a build may take to start in the probe before it counts as hanging
  // Bytes that a build may take in the probe; 0: no limit, nothing: load::default_memory_limit().
  std::optional<std::uint64_t> probe_memory_bytes;
  std::uint64_t audit_rotate_bytes = 1u << 20;  // a longer audit log is renamed and a new one begun
};

// The values given on the command line or through the API; unset values come from the next source.
struct FlagValues {
  std::vector<std::string> repositories;   // relative folders are taken from Environment::current_folder
  std::vector<std::string> installations;  // the same
  std::optional<std::string> cache, flavor, device, update, log, force, helper, package_index, lock;
  std::optional<bool> offline;
  bool allow_unsigned = false;  // URLs among `repositories` may be unsigned
  bool refresh = false;         // ask every repository, whatever was kept of it
  std::optional<std::vector<std::string>> probe_launcher;
  std::vector<std::string> accept_licenses;
  bool by_application = false;  // through the API, so that messages do not mention flags
};

// Follows from the type of the member. Paths are absolute; a variable separates them as the system does, and
// other texts by spaces.
enum class Kind { toggle, number, text, path, texts, paths, objects };

// A member of DeclaredSettings. The values of sources are JSON, as a configuration file has them.
struct DeclaredMember {
  Kind kind;
  void (*store)(DeclaredSettings&, const Json&) = nullptr;
  Json (*stored)(const DeclaredSettings&) = nullptr;
};

struct SettingRules {
  std::int64_t least = 0, most = 0;                           // of a number
  const char* choices = nullptr;                              // "stamps, sample, full": of a text
  std::string (*problem)(const std::string& text) = nullptr;  // of each text; returns "": none
  bool may_be_empty = false;
  bool in_files = true;
  bool has_variable = false;   // ENGINEHOST_ and the key in capitals
  bool shows_default = false;  // reports list it although nobody set it
};

// The member of FlagValues that a flag or the API sets.
struct DeclaredFlag {
  Json (*given)(const FlagValues&) = nullptr;  // null: there is none; returns null if it is not given
  void (*give)(FlagValues&, const Json&) = nullptr;
  // Set for a flag of all commands that choose or open engines; `value`: "DIR".
  const char *help = nullptr, *value = nullptr;
  const char* name = nullptr;     // null: "--" and the key
  const char* request = nullptr;  // its name in enginehost_request; null: the key
};

struct Declaration {
  const char* key;  // as files, reports and policy.locked name it
  DeclaredMember member;
  SettingRules rules = {};
  DeclaredFlag flag = {};
};

// For SettingRules::problem.
std::string not_a_device(const std::string& text);
std::string not_a_host(const std::string& text);  // HOST or HOST:PORT
std::string not_a_registry_mirror(const std::string& text);
std::string not_a_proxy(const std::string& text);
std::string not_a_package_index(const std::string& text);

// How the members of a declaration are made.
namespace declare {

inline void assign(bool& to, const Json& from) { to = from.as_bool(); }
inline void assign(int& to, const Json& from) { to = static_cast<int>(from.as_integer()); }
inline void assign(std::int64_t& to, const Json& from) { to = from.as_integer(); }
inline void assign(std::uint64_t& to, const Json& from) {
  to = static_cast<std::uint64_t>(from.as_integer());
}
inline void assign(std::string& to, const Json& from) { to = from.as_string(); }
inline void assign(std::filesystem::path& to, const Json& from) { to = path_of(from.as_string()); }
inline void assign(Mirror& to, const Json& from) { to = {from["of"].as_string(), from["use"].as_string()}; }
template <class T>
void assign(std::vector<T>& to, const Json& from) {
  to.clear();
  for (const Json& element : from.as_array()) assign(to.emplace_back(), element);
}
template <class T>
void assign(std::optional<T>& to, const Json& from) {
  assign(to.emplace(), from);
}

template <class T>
Json json_of(const T& value) {
  return value;
}
inline Json json_of(const std::filesystem::path& value) { return path_text(value); }
inline Json json_of(const Mirror& value) { return Json::object().set("of", value.of).set("use", value.use); }
template <class T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push(json_of(value));
  return list;
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

template <class T>
constexpr Kind kind_of() {
  if (std::is_same_v<T, bool>) return Kind::toggle;
  if (std::is_same_v<T, std::string>) return Kind::text;
  if (std::is_same_v<T, std::filesystem::path>) return Kind::path;
  if (std::is_same_v<T, std::vector<std::string>>) return Kind::texts;
  if (std::is_same_v<T, std::vector<std::filesystem::path>>) return Kind::paths;
  return std::is_same_v<T, std::vector<Mirror>> ? Kind::objects : Kind::number;
}

template <auto Member>
constexpr DeclaredMember member = {
    kind_of<std::remove_cvref_t<decltype(DeclaredSettings().*Member)>>(),
    [](DeclaredSettings& settings, const Json& value) { assign(settings.*Member, value); },
    [](const DeclaredSettings& settings) { return json_of(settings.*Member); }};

template <auto Member>
constexpr DeclaredMember limit = {
    Kind::number,
    [](DeclaredSettings& settings, const Json& value) { assign(settings.downloads.*Member, value); },
    [](const DeclaredSettings& settings) { return json_of(settings.downloads.*Member); }};

template <auto Member>
Json given(const FlagValues& flags) {
  Json value = json_of(flags.*Member);
  return value.is_array() && value.as_array().empty() ? Json() : value;
}
template <auto Member>
constexpr DeclaredFlag flag(const char* help = nullptr, const char* value = nullptr,
                            const char* name = nullptr, const char* request = nullptr) {
  const auto give = [](FlagValues& flags, const Json& given) { assign(flags.*Member, given); };
  return {given<Member>, give, help, value, name, request};
}

constexpr std::int64_t one_hour = 3600, most_bytes = std::int64_t{1} << 50;
constexpr SettingRules from_variable{.has_variable = true};

using S = DeclaredSettings;
using L = DownloadLimits;
using F = FlagValues;

// In the order in which sources are merged and values are reported.
inline constexpr Declaration declarations[] = {
    {"repositories_default", member<&S::repositories_default>},
    {"cache", member<&S::cache_folder>, from_variable, flag<&F::cache>("the cache folder", "DIR")},
    {"installations", member<&S::installations>, from_variable,
     flag<&F::installations>("a conda environment, a Python environment or a folder of libraries whose "
                             "engine may be opened in place; repeatable",
                             "DIR", "--installation")},
    {"system_layers", member<&S::system_layers>},
    {"state", member<&S::state_folder>},
    {"helper", member<&S::helper>, {}, flag<&F::helper>()},
    {"flavor", member<&S::flavor>, from_variable, flag<&F::flavor>()},
    {"device", member<&S::device>, {.problem = not_a_device, .has_variable = true}, flag<&F::device>()},
    {"verify", member<&S::verify>, {.choices = "stamps, sample, full"}},
    {"update",
     member<&S::update>,
     {.choices = "report, open, never", .has_variable = true},
     flag<&F::update>()},
    {"force", member<&S::force>, {.in_files = false, .has_variable = true}, flag<&F::force>()},
    {"lock", member<&S::lock_file>, from_variable,
     flag<&F::lock>(
         "open only the builds that this lock file names (engine-cache lock) [env: ENGINEHOST_LOCK]",
         "FILE")},
    {"probe_launcher", member<&S::probe_launcher>, from_variable, flag<&F::probe_launcher>()},
    {"package_index",
     member<&S::package_index>,
     {.problem = not_a_package_index},
     flag<&F::package_index>(
         "the index of Python packages, in place of those of pip's configuration: a URL or a folder", "URL")},
    {"plain_http_registries", member<&S::plain_http_registries>, {.problem = not_a_host}},
    {"registry_mirrors", member<&S::registry_mirrors>, {.problem = not_a_registry_mirror}},
    {"mirrors", member<&S::mirrors>},
    {"proxy", member<&S::proxy>, {.problem = not_a_proxy}},
    {"no_proxy", member<&S::no_proxy>, {.may_be_empty = true}},
    {"extra_ca", member<&S::extra_ca>},
    {"offline",
     member<&S::offline>,
     {.has_variable = true, .shows_default = true},
     flag<&F::offline>("open no socket: choose among installed builds and those in folders")},
    {"log",
     member<&S::log>,
     {.choices = "error, warning, info, debug", .has_variable = true, .shows_default = true},
     flag<&F::log>(nullptr, nullptr, "--verbose", "log_level")},
    {"downloads.max_artifact_bytes", limit<&L::max_artifact_bytes>, {.least = 1, .most = most_bytes}},
    {"downloads.max_unpacked_bytes", limit<&L::max_unpacked_bytes>, {.least = 1, .most = most_bytes}},
    {"cache_max_bytes", member<&S::cache_max_bytes>, {.least = 1, .most = most_bytes}},
    {"downloads.connect_timeout_seconds", limit<&L::connect_timeout_seconds>, {.least = 1, .most = one_hour}},
    {"downloads.stall_timeout_seconds", limit<&L::stall_timeout_seconds>, {.least = 1, .most = one_hour}},
    {"downloads.retries", limit<&L::retries>, {.most = 100}},
    {"downloads.connections", limit<&L::connections>, {.least = 1, .most = 64}},
    {"probe_deadline_seconds", member<&S::probe_deadline_seconds>, {.least = 1, .most = one_hour}},
    {"probe_memory_bytes", member<&S::probe_memory_bytes>, {.most = most_bytes}},
    {"audit_rotate_bytes", member<&S::audit_rotate_bytes>, {.least = 4096, .most = most_bytes}},
};

}  // namespace declare
using declare::declarations;

// Returns null for another key, and for "repositories" and "accept_licenses", whose sources add up.
const Declaration* find_declaration(std::string_view key);

// Returns "ENGINEHOST_CACHE", "--cache", "request.cache" for "cache".
std::string variable_of(std::string_view key);
std::string flag_of(std::string_view key);
std::string request_member_of(std::string_view key);

// Reads the text of a variable. Returns what is wrong with it; empty: nothing.
std::string read_variable(const Declaration& declaration, const std::string& text, Json& value);

// Returns what is wrong with a value; empty: nothing. The reader of files checks the elements of lists of
// objects.
std::string problem_of(const Declaration& declaration, const Json& value);

// Returns the value for people, without passwords.
std::string text_of(const Json& value);

// Parses "true", "1", "yes", "on" and their opposites.
std::optional<bool> parse_switch(const std::string& text);

}  // namespace enginehost::settings
