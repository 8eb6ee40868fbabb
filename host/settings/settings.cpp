#include "host/settings/settings.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/settings/layer.hpp"
#include "host/settings/places.hpp"
#include "host/settings/policy.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// Merges the sources key by key and records the result for engine-info.
class SettingsMerge {
 public:
  // `layers`: the strongest first, the system's file last.
  SettingsMerge(Settings& settings, std::vector<const Layer*> layers, const ConfigFile& system)
      : settings_(settings),
        layers_(std::move(layers)),
        locked_(system.locked),
        locked_keys_(system.locked_keys),
        newer_keys_(system.newer_keys) {}

  // Stores the strongest source's value and returns whether there is one. Policy overrides everything: a
  // contradicting flag is an error, and a contradicting weaker source is overridden with a warning. A key
  // that the policy locks without a value has the system file's value, or its default.
  bool merge(const Declaration& setting) {
    const char* key = setting.key;
    known_.emplace_back(key);
    const Json* fixed = locked_.values.find(key);
    const bool by_value = fixed != nullptr;
    const bool locked = by_value || is_locked_key(key);
    if (locked && !by_value) fixed = layers_.back()->values.find(key);
    if (locked) settings_.policy.locked.emplace_back(key);
    for (const Layer* layer : layers_) {
      const Json* said = layer->values.find(key);
      if (said == nullptr || (fixed != nullptr && *said == *fixed)) continue;
      const std::string source = source_of(*layer, key);
      if (!locked) return take(setting, *said, source);
      override_value(key, source, text_of(*said), layer->is_callers(), by_value,
                     fixed != nullptr ? text_of(*fixed) : "its default");
    }
    return fixed != nullptr && take(setting, *fixed, by_value ? locked_.source : layers_.back()->source);
  }

  // Reports that a source below set another value than the effective one.
  void override_value(const std::string& key, const std::string& source, const std::string& said,
                      bool by_caller, bool by_value, const std::string& standing) {
    if (by_caller)
      refuse(refusal(settings_.policy, by_value ? key : "locked",
                     by_value ? standing : join(locked_keys_, " "),
                     settings_.by_application ? "\"" + said + "\", which " + source + " asks for"
                                              : source + " " + said)
                 .with(Key::flag, source));
    else
      settings_.warnings.push_back(source + " sets " + key + " to \"" + said + "\"; the policy of " +
                                   settings_.policy.file + " keeps it at \"" + standing + "\"");
  }

  bool is_locked_key(const std::string& key) const {
    return std::find(locked_keys_.begin(), locked_keys_.end(), key) != locked_keys_.end();
  }
  // An unknown key in policy.locked protects nothing.
  void check_locks() {
    for (const std::string& key : locked_keys_) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      const std::string problem = "\"" + key + "\" is no setting of this version";
      if (std::ranges::find(newer_keys_, key) != newer_keys_.end()) {
        settings_.warnings.push_back(settings_.policy.file + ": policy.locked: " + problem +
                                     "; policy.for_newer_versions lists it");
        continue;
      }
      const auto meant = nearest(to_lower(key), known_);
      refuse(unusable(Key::file, settings_.policy.file, "policy.locked",
                      problem + (meant ? "; did you mean \"" + *meant + "\"?" : "")));
    }
  }
  // Returns whether the system's file or its policy sets the value to true.
  bool system_asks_for(const char* key) const {
    const Json* fixed = locked_.values.find(key);
    return fixed != nullptr ? fixed->as_bool() : layers_.back()->values[key].as_bool();
  }
  // Locks a key that merge() does not merge.
  bool lock(const char* key) {
    known_.emplace_back(key);
    if (!is_locked_key(key)) return false;
    settings_.policy.locked.emplace_back(key);
    return true;
  }

  void record(std::string key, std::string value, std::string source) {
    const bool locked =
        settings_.policy.locks(key == "repository" ? "repositories" : key) || source == locked_.source;
    settings_.effective.push_back({std::move(key), std::move(value), std::move(source), locked});
  }
  void refuse(Diagnosis diagnosis) {
    if (!conflict_) conflict_ = std::move(diagnosis);
  }
  const std::optional<Diagnosis>& conflict() const { return conflict_; }
  const std::vector<const Layer*>& layers() const { return layers_; }

 private:
  bool take(const Declaration& setting, const Json& value, const std::string& source) {
    setting.member.store(settings_, value);
    record(setting.key, text_of(value), source);
    return true;
  }
  static std::string source_of(const Layer& layer, const char* key) {
    if (layer.is_callers()) return said_by(key, layer.source == "application");
    return layer.source == "environment" ? variable_of(key) : layer.source;
  }

  Settings& settings_;
  std::vector<const Layer*> layers_;
  const Layer& locked_;
  const std::vector<std::string>&locked_keys_, &newer_keys_;
  std::vector<std::string> known_;
  std::optional<Diagnosis> conflict_;
};

std::vector<std::string> texts_of(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : paths) texts.push_back(path_text(path));
  return texts;
}

// Adds EngineHost's own repository, which no user requested. A list or a lock therefore excludes it, unless
// the system's file enables it or the list contains its place. The author of that file need not know the
// place.
void add_default_repository(Settings& settings, SettingsMerge& merge, const Environment& environment,
                            bool said) {
  if (!settings.repositories_default) return;
  auto looked_for = default_repository(environment, settings.warnings, &settings.inputs);
  if (!looked_for) return merge.refuse(std::move(looked_for).error());
  const std::optional<SettingsPlace>& place = *looked_for;
  if (!place) {
    settings.missing_repository = texts_of(places_of_repository(environment));
    return;
  }
  const std::string location = plain_location(path_text(place->folder));
  if (lists(settings, location)) return;
  const Policy& policy = settings.policy;
  if (merge.system_asks_for("repositories_default") ||
      (!policy.locks("repositories") && lies_in(location, policy.allowed_repositories))) {
    settings.repositories.push_back({location, !policy.require_signatures, "default"});
    return;
  }
  settings.repositories_default = false;
  if (said)
    settings.warnings.push_back("the repository " + location + " (default) is not used: the policy of " +
                                policy.file + " does not allow it");
  else
    merge.record("repositories_default", "false", "policy of " + policy.file);
}

void add_repositories(Settings& settings, SettingsMerge& merge) {
  const bool locked = merge.lock("repositories");
  for (const Layer* layer : merge.layers())
    for (Repository repository : layer->repositories.value_or(std::vector<Repository>{})) {
      if (lists(settings, repository.location)) continue;
      if (locked && layer != merge.layers().back()) {
        merge.override_value("repositories", repository.source, repository.location, layer->is_callers(),
                             false, "the system's list");
        continue;
      }
      if (!lies_in(repository.location, settings.policy.allowed_repositories)) {
        if (layer->is_callers())
          merge.refuse(refusal(settings.policy, "repositories",
                               list_text(*settings.policy.allowed_repositories),
                               "the repository " + repository.location)
                           .with(Key::flag, repository.source));
        else
          settings.warnings.push_back("the repository " + repository.location + " (" + repository.source +
                                      ") is not used: the policy of " + settings.policy.file +
                                      " does not allow it");
        continue;
      }
      // From other sources it is skipped and reported when it would be read.
      if (layer->is_callers() && is_url(repository.location))
        if (auto permitted = check_host(settings.policy, repository.location); !permitted)
          merge.refuse(std::move(permitted.error()
                                     .with(Key::repository, without_passwords(repository.location))
                                     .with(Key::flag, repository.source)));
      repository.unsigned_allowed = repository.unsigned_allowed && settings.policy.unsigned_repositories &&
                                    !settings.policy.require_signatures;
      if (repository.unsigned_allowed && is_url(repository.location))
        settings.warnings.push_back(
            "the repository " + without_passwords(repository.location) + " (" + repository.source +
            ") is used even if nobody signed it: its server, or an attacker on the way to it, "
            "decides which code runs here");
      settings.repositories.push_back(std::move(repository));
    }
}

void choose_repositories(Settings& settings, SettingsMerge& merge, const Environment& environment,
                         bool said) {
  add_default_repository(settings, merge, environment, said);
  for (const Repository& repository : settings.repositories)
    merge.record("repository", without_passwords(repository.location), repository.source);
}

// glibc replaces these in the name that dlopen() gets (elf/dl-load.c, _dl_dst_substitute).
std::string_view replaced_by_loader([[maybe_unused]] std::string_view path) {
#ifdef __GLIBC__
  for (const std::string_view token : {"$ORIGIN", "$LIB", "$PLATFORM", "${ORIGIN}", "${LIB}", "${PLATFORM}"})
    if (path.find(token) != std::string_view::npos) return token;
#endif
  return {};
}

// Refuses a path that a source names if a user may change it who was not meant to decide what is believed or
// run.
void refuse_if_exposed(Settings& settings, SettingsMerge& merge, const char* key, const fs::path& path,
                       Purpose purpose, const fs::path& sdk = {}) {
  const auto problem = who_may_change(path, purpose, {.above = {}, .sdk = sdk}).problem;
  if (problem)
    merge.refuse(std::move(unusable(Key::variable, settings.find(key)->source, key,
                                    "\"" + path_text(path) + "\" is not safe: " + reason_of(*problem, path))
                               .with(Key::exposed, problem->value(Key::folder))));
}

void choose_launcher(Settings& settings, SettingsMerge& merge, const Environment&, bool said) {
  if (said && !settings.probe_launcher.empty() && path_of(settings.probe_launcher.front()).is_absolute())
    refuse_if_exposed(settings, merge, "probe_launcher", path_of(settings.probe_launcher.front()),
                      Purpose::named);
}

void choose_certificates(Settings& settings, SettingsMerge& merge, const Environment&, bool said) {
  if (said) refuse_if_exposed(settings, merge, "extra_ca", settings.extra_ca, Purpose::named);
}

void choose_cache(Settings& settings, SettingsMerge& merge, const Environment& environment, bool said) {
  if (said) {
    settings.cache_folder = path_of(plain_location(path_text(settings.cache_folder)));
  } else {
    const SettingsPlace place = usable_cache(environment, settings.warnings);
    settings.cache_folder = place.folder;
    const bool homeless = place.folder.empty() && place.source.empty();
    merge.record("cache", path_text(place.folder), homeless ? "no home folder" : place.source);
    if (homeless)
      settings.warnings.push_back("there is no home folder and no cache folder is set: nothing can be kept");
  }
  ask_about_cache(settings, said);
  // Refuses a path that is not UTF-8, because it becomes text in records, documents and loader messages,
  // where its bytes would change.
  const std::string& text = path_text(settings.cache_folder);
  const auto refuse = [&](const std::string& problem) {
    const std::string said_of = "\"" + printable_line(text) + "\" " + problem;
    const std::string& source = settings.find("cache")->source;
    // By default the home folder decides, and there is no variable to correct.
    merge.refuse(source == "default"
                     ? diagnose(Code::configuration_wrong).with(Key::key, "cache").with(Key::problem, said_of)
                     : unusable(Key::variable, source, "cache", said_of));
  };
  if (!is_utf8(text)) return refuse("is not UTF-8");
  if (const std::string_view token = replaced_by_loader(text); !token.empty())
    refuse("has " + std::string(token) +
           " in it, which the system's loader replaces in the path of a library");
}

// Returns the usual cache if another one is used in its place. Otherwise empty.
fs::path unwritable_cache(const Settings& settings, const Environment& environment) {
  const Setting* const cache = settings.find("cache");
  return cache != nullptr && cache->source == not_the_usual_cache ? default_cache(environment).folder
                                                                  : fs::path();
}

void choose_installations(Settings& settings, SettingsMerge&, const Environment&, bool) {
  for (fs::path& folder : settings.installations) folder = path_of(plain_location(path_text(folder)));
}

void choose_layers(Settings& settings, SettingsMerge& merge, const Environment& environment, bool said) {
  std::error_code error;
  if (const fs::path usual = unwritable_cache(settings, environment); fs::is_directory(usual, error)) {
    settings.system_layers.push_back(usual);
    merge.record("system_layers", path_text(usual), std::string(not_the_usual_cache));
  }
  if (said || !fs::is_directory(environment.system_layer, error)) return;
  settings.system_layers.push_back(environment.system_layer);
  merge.record("system_layers", path_text(environment.system_layer), "default");
}

void choose_state(Settings& settings, SettingsMerge& merge, const Environment& environment, bool said) {
  if (said) {
    refuse_if_exposed(settings, merge, "state", settings.state_folder, Purpose::personal);
    settings.state_folder /= machine_name(environment);
    settings.state_set_by = settings.find("state")->source;
    return;
  }
  // The records of a cache that cannot be written still count.
  const fs::path unwritable = unwritable_cache(settings, environment);
  const fs::path& usual = unwritable.empty() ? settings.cache_folder : unwritable;
  // Keys and proofs in another user's cache are that user's.
  SettingsPlace place =
      default_state(settings.cache_owner.empty() ? usual : fs::path(), environment, &settings.inputs);
  if (place.folder.empty() && !unwritable.empty())
    place = default_state(settings.cache_folder, environment, &settings.inputs);
  if (const auto problem =
          who_may_change(place.folder, Purpose::personal, {.above = settings.cache_folder, .sdk = {}})
              .problem) {
    settings.warnings.push_back("the state folder " + path_text(place.folder) +
                                " is not used: " + reason_of(*problem, place.folder));
    settings.inputs.files.emplace_back(problem->value(Key::folder));
    place = {};
  }
  settings.state_folder = place.folder;
  settings.read_state_folder = read_only_state(usual, place, environment);
  merge.record("state", path_text(place.folder),
               place.folder.empty() ? "nowhere to write"
               // Must differ from "default", because places with that source are not shown.
               : !settings.read_state_folder.empty() && place.source == "default"
                   ? "the cache's cannot be written"
                   : place.source);
  if (place.folder.empty())
    settings.warnings.push_back(
        "no folder for proofs and quarantine can be written: they last for this run only");
}

void choose_helper(Settings& settings, SettingsMerge& merge, const Environment& environment, bool said) {
  if (said)
    return refuse_if_exposed(settings, merge, "helper", settings.helper, Purpose::named,
                             sdk_folder(environment));
  const auto found = default_helper(environment, settings.warnings, &settings.inputs);
  if (!found) merge.refuse(found.error());
  const SettingsPlace place = found.value_or(SettingsPlace{});
  settings.helper = place.folder;
  if (place.folder.empty()) settings.missing_helper = texts_of(places_of_helper(environment));
  // Explains why neither the probe nor EngineHost's own repository is found.
  if (place.folder.empty() && environment.executable_folder.empty() && environment.library_folder.empty() &&
      executable_path().empty())
    settings.warnings.emplace_back(
        "EngineHost's own folder is unknown because /proc/self/exe cannot be read, so the repository and "
        "the probe beside it are not found; mount /proc, or name them: --repository, and \"helper\" in the "
        "configuration");
  merge.record("helper", path_text(place.folder), place.folder.empty() ? "not found" : place.source);
}

// The settings that need more than their value: a default that the machine decides, or a canonical spelling.
// `said`: a source has a value, which is stored.
struct Choice {
  std::string_view key;
  void (*choose)(Settings&, SettingsMerge&, const Environment&, bool said);
};
constexpr Choice choices[] = {{"repositories_default", choose_repositories},
                              {"cache", choose_cache},
                              {"installations", choose_installations},
                              {"system_layers", choose_layers},
                              {"state", choose_state},
                              {"helper", choose_helper},
                              {"probe_launcher", choose_launcher},
                              {"extra_ca", choose_certificates}};

void choose(const Declaration& setting, Settings& settings, SettingsMerge& merge,
            const Environment& environment) {
  const bool said = merge.merge(setting);
  if (!said && setting.rules.shows_default)
    merge.record(setting.key, text_of(setting.member.stored(settings)), "default");
  for (const Choice& choice : choices)
    if (choice.key == setting.key) choice.choose(settings, merge, environment, said);
}

// Records the rest of the policy as settings, because it decides as much as they do.
void record_policy(const Policy& policy, const std::string& source, SettingsMerge& merge) {
  const auto list = [&](const char* key, const std::vector<std::string>& values) {
    if (!values.empty()) merge.record(key, join(values, " "), source);
  };
  // Records an empty list too, because it allows nothing.
  const auto allowed = [&](const char* key, const std::optional<std::vector<std::string>>& values) {
    if (values) merge.record(key, list_text(*values), source);
  };
  allowed("policy.repositories", policy.allowed_repositories);
  allowed("policy.allowed_hosts", policy.allowed_hosts);
  if (!policy.unsigned_repositories) merge.record("policy.unsigned_repositories", "false", source);
  if (policy.require_signatures) merge.record("policy.require_signatures", "true", source);
  if (!policy.loaded_libraries) merge.record("policy.loaded_libraries", "false", source);
  if (!policy.vendor_facts) merge.record("policy.vendor_facts", "false", source);
  if (!policy.updates) merge.record("policy.updates", "false", source);
  if (!policy.from_index) merge.record("policy.from_index", "false", source);
  for (const auto& [name, range] : policy.versions) merge.record("policy.versions." + name, range, source);
  std::vector<std::string> accepted;
  for (const AcceptedLicense& license : policy.accepted_licenses)
    accepted.push_back(license.sha256.empty() ? license.id : license.id + "@sha256:" + license.sha256);
  list("policy.accept_licenses", accepted);
  list("policy.forbid_licenses", policy.forbidden_licenses);
  if (policy.max_staleness_days)
    merge.record("policy.max_staleness_days", std::to_string(*policy.max_staleness_days), policy.file);
  list("policy.blocked", policy.blocked);
  const std::string& facts = policy.vendor_facts_repository;
  if (!facts.empty()) merge.record("policy.vendor_facts_repository", without_passwords(facts), source);
}

constexpr std::string_view transfer_variables[] = {
    "http_proxy", "https_proxy",    "HTTPS_PROXY",   "all_proxy",    "ALL_PROXY", "no_proxy",
    "NO_PROXY",   "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC"};

// Records proxies and certificates. libcurl evaluates them, but they decide where requests go.
void record_transfer_environment(SettingsMerge& merge, const Environment& environment) {
  for (const std::string_view variable : transfer_variables) {
    const std::string name(variable);
    if (const std::string* value = environment.find(name)) {
      // libcurl also accepts "user:password@proxy:3128" as a proxy.
      const std::size_t user =
          value->find("://") == std::string::npos ? value->rfind('@') : std::string::npos;
      const std::string shown = user == std::string::npos ? *value : value->substr(user + 1);
      merge.record(name, without_passwords(shown), "environment");
    }
  }
}

}  // namespace

bool is_settings_variable(std::string_view name) {
  return name.starts_with("ENGINEHOST_") || (name.starts_with("XDG_") && name.ends_with("_HOME")) ||
         name == "HOME" ||
         std::find(std::begin(transfer_variables), std::end(transfer_variables), name) !=
             std::end(transfer_variables);
}

const Setting* Settings::find(const std::string& key) const {
  const auto found = std::find_if(effective.begin(), effective.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  return found != effective.end() ? &*found : nullptr;
}

Result<Settings> load_settings(const FlagValues& flags, const Environment& environment) {
  if (environment.machine_failure) return fail(*environment.machine_failure);
  TRY_ASSIGN(const Layer from_flags, layer_of_flags(flags, environment));
  TRY_ASSIGN(const Layer from_environment, layer_of_environment(environment));
  const std::string* named = environment.find("ENGINEHOST_CONFIG");
  const fs::path user_file = named != nullptr                ? path_of(*named)
                             : environment.reads_user_config ? user_config_file(environment)
                                                             : fs::path();
  if (named != nullptr && !user_file.is_absolute())
    return fail(
        unusable(Key::variable, "ENGINEHOST_CONFIG", "config", "\"" + *named + "\" is not an absolute path"));
  ConfigFile user;
  if (!user_file.empty()) {
    TRY_ASSIGN(user, read_config_file(user_file, false, named != nullptr));
  }
  TRY_ASSIGN(ConfigFile system, read_config_file(environment.system_config, true, false));

  Settings settings;
  settings.by_application = flags.by_application;
  settings.refresh = flags.refresh;
  for (const fs::path* looked_at : {&user_file, &environment.system_config, &environment.system_layer})
    if (!looked_at->empty()) settings.inputs.files.push_back(path_text(*looked_at));
  settings.inputs.files.insert(settings.inputs.files.end(), environment.machine_files.begin(),
                               environment.machine_files.end());
  settings.policy = system.policy;
  settings.warnings = user.warnings;
  if (!environment.warning.empty()) settings.warnings.push_back(environment.warning);
  if (!user.exposed.empty()) settings.inputs.files.push_back(user.exposed);
  settings.warnings.insert(settings.warnings.end(), system.warnings.begin(), system.warnings.end());
  SettingsMerge merge(settings, {&from_flags, &from_environment, &user.layer, &system.layer}, system);
  merge.record("config", path_text(user_file), named != nullptr ? "ENGINEHOST_CONFIG" : "default");
  add_repositories(settings, merge);
  for (const Declaration& setting : declarations) choose(setting, settings, merge, environment);
  record_transfer_environment(merge, environment);

  const bool consent_locked = merge.lock("accept_licenses");
  const std::string accepted_by = said_by("accept_licenses", flags.by_application);
  for (const std::string& license : flags.accept_licenses) {
    if (auto forbidden = forbidden_license(settings.policy, license))
      merge.refuse(std::move(forbidden->with(Key::flag, accepted_by)));
    if (consent_locked)
      merge.override_value("accept_licenses", accepted_by, license, true, false, "policy.accept_licenses");
    settings.accept_licenses.push_back(license);
  }
  if (!settings.policy.file.empty()) record_policy(settings.policy, system.locked.source, merge);
  merge.check_locks();
  if (merge.conflict()) return fail(*merge.conflict());
  return settings;
}

Diagnosis mark_as_state(Diagnosis diagnosis, const Settings& settings) {
  // An obstacle in place of a record is moved aside; the folder itself is right.
  if (diagnosis.code != Code::folder_not_writable || settings.state_set_by.empty() ||
      !diagnosis.value(Key::in_the_way).empty())
    return diagnosis;
  if (diagnosis.value(Key::place).empty()) {
    const fs::path named = settings.state_folder.parent_path();
    if (!is_below(path_of(diagnosis.value(Key::file)), named) &&
        !is_below(path_of(diagnosis.value(Key::folder)), named))
      return diagnosis;
    diagnosis.with(Key::place, "state");
  }
  if (diagnosis.value(Key::place) == "state") diagnosis.with(Key::state_set_by, settings.state_set_by);
  return diagnosis;
}

}  // namespace enginehost::settings
