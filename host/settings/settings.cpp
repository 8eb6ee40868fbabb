#include "host/settings/settings.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/settings/layer.hpp"
#include "host/settings/places.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& value) { return value; }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(const std::vector<std::string>& values) { return join(values, " "); }

// A URL without the password in it, for reports.
std::string without_password(const std::string& url) {
  const std::size_t begin = url.find("://"), end = url.find('@');
  if (begin == std::string::npos || end == std::string::npos || url.find('/', begin + 3) < end) return url;
  return url.substr(0, begin + 3) + "…" + url.substr(end);
}

// Weighs the sources key by key and keeps the record for engine-info.
class Weighing {
 public:
  Weighing(Settings& settings, std::vector<const Layer*> layers, const Layer& locked)
      : settings_(settings), layers_(std::move(layers)), locked_(locked) {}

  // The strongest source's value, or nothing. Policy stands above all: a flag that says something else is an
  // error, a weaker source that does is overridden with a warning.
  template <class T>
  std::optional<T> pick(const char* key, std::optional<T> Layer::*member) {
    const std::optional<T>& fixed = locked_.*member;
    if (fixed) settings_.policy.locked.emplace_back(key);
    for (const Layer* layer : layers_) {
      const std::optional<T>& said = layer->*member;
      if (!said) continue;
      const std::string source = source_of(*layer, key);
      if (!fixed) {
        record(key, text_of(*said), source);
        return said;
      }
      if (*said == *fixed) continue;
      if (layer->source == "flag") {
        if (!conflict_)
          conflict_ = diagnose("EH-P01")
                          .with("file", settings_.policy.file)
                          .with("key", std::string("policy.") + key)
                          .with("policy", std::string("policy.") + key + " = " + text_of(*fixed))
                          .with("what", source + " " + text_of(*said))
                          .with("flag", source);
      } else {
        settings_.warnings.push_back(source + " sets " + key + " to \"" + text_of(*said) +
                                     "\"; the policy of " + settings_.policy.file + " keeps it at \"" +
                                     text_of(*fixed) + "\"");
      }
    }
    if (fixed) record(key, text_of(*fixed), locked_.source);
    return fixed;
  }

  void record(std::string key, std::string value, std::string source) {
    settings_.effective.push_back({std::move(key), std::move(value), std::move(source)});
  }
  void refuse(Diagnosis diagnosis) {
    if (!conflict_) conflict_ = std::move(diagnosis);
  }
  const std::optional<Diagnosis>& conflict() const { return conflict_; }
  const std::vector<const Layer*>& layers() const { return layers_; }

 private:
  static std::string source_of(const Layer& layer, std::string key) {
    if (layer.source == "flag") {
      std::replace(key.begin(), key.end(), '_', '-');
      return "--" + key;
    }
    if (layer.source != "environment") return layer.source;
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return "ENGINEHOST_" + key;
  }

  Settings& settings_;
  std::vector<const Layer*> layers_;
  const Layer& locked_;
  std::optional<Diagnosis> conflict_;
};

// A location lies in the allowed one when it is it, or goes on after a "/": "https://a.example.evil" does not
// lie in "https://a.example".
bool is_allowed(const std::string& location, const std::vector<std::string>& allowed) {
  return allowed.empty() || std::any_of(allowed.begin(), allowed.end(), [&](const std::string& one) {
           const std::string prefix = one.ends_with('/') ? one.substr(0, one.size() - 1) : one;
           if (location.find("/../") != std::string::npos || location.ends_with("/..")) return false;
           return location == prefix || location.starts_with(prefix + "/");
         });
}

void add_repositories(Settings& settings, Weighing& weighing, const Environment& environment) {
  const auto known = [&](const std::string& location) {
    return std::any_of(settings.repositories.begin(), settings.repositories.end(),
                       [&](const Repository& repository) { return repository.location == location; });
  };
  for (const Layer* layer : weighing.layers())
    for (Repository repository : layer->repositories.value_or(std::vector<Repository>{})) {
      if (known(repository.location)) continue;
      if (!is_allowed(repository.location, settings.policy.allowed_repositories)) {
        if (layer->source == "flag")
          weighing.refuse(
              diagnose("EH-P01")
                  .with("file", settings.policy.file)
                  .with("key", "policy.repositories")
                  .with("policy", "policy.repositories = " + join(settings.policy.allowed_repositories, " "))
                  .with("what", "the repository " + repository.location)
                  .with("flag", "--repository"));
        else
          settings.warnings.push_back("the repository " + repository.location + " (" + repository.source +
                                      ") is not used: the policy of " + settings.policy.file +
                                      " does not allow it");
        continue;
      }
      repository.unsigned_allowed = repository.unsigned_allowed && settings.policy.unsigned_repositories;
      settings.repositories.push_back(std::move(repository));
    }
  settings.repositories_default =
      weighing.pick("repositories_default", &Layer::repositories_default).value_or(true);
  if (settings.repositories_default)
    if (const auto place = default_repository(environment, settings.warnings);
        place && !known(place->folder.string()))
      settings.repositories.push_back({place->folder.string(), true, "default"});
  for (const Repository& repository : settings.repositories)
    weighing.record("repository", without_password(repository.location), repository.source);
}

void choose_places(Settings& settings, Weighing& weighing, const Environment& environment) {
  if (const auto cache = weighing.pick("cache", &Layer::cache)) {
    settings.cache_folder = fs::path(*cache).lexically_normal();
  } else {
    const Place place = default_cache(environment);
    settings.cache_folder = place.folder;
    weighing.record("cache", place.folder.string(), place.folder.empty() ? "no home folder" : place.source);
    if (place.folder.empty())
      settings.warnings.push_back("there is no home folder and no cache folder is set: nothing can be kept");
  }
  const auto layers = weighing.pick("system_layers", &Layer::system_layers);
  for (const std::string& layer : layers.value_or(std::vector<std::string>{}))
    settings.system_layers.emplace_back(layer);
  std::error_code error;
  if (!layers && fs::is_directory(environment.system_layer, error)) {
    settings.system_layers.push_back(environment.system_layer);
    weighing.record("system_layers", environment.system_layer.string(), "default");
  }
  if (const auto state = weighing.pick("state", &Layer::state)) {
    settings.state_folder = fs::path(*state) / machine_name(environment);
  } else {
    const Place place = default_state(settings.cache_folder, environment);
    settings.state_folder = place.folder;
    weighing.record("state", place.folder.string(), place.folder.empty() ? "nowhere to write" : place.source);
    if (place.folder.empty())
      settings.warnings.push_back(
          "no folder for proofs and quarantine can be written: they last for this run only");
  }
  if (const auto helper = weighing.pick("helper", &Layer::helper)) {
    settings.helper = *helper;
  } else {
    const Place place = default_helper(environment);
    settings.helper = place.folder;
    weighing.record("helper", place.folder.string(), place.folder.empty() ? "not found" : place.source);
  }
}

void choose_limits(Settings& settings, Weighing& weighing) {
  DownloadLimits& limits = settings.downloads;
  const auto bytes = [&](const char* key, std::optional<std::int64_t> Layer::*member, std::uint64_t& target) {
    if (const auto value = weighing.pick(key, member)) target = static_cast<std::uint64_t>(*value);
  };
  const auto number = [&](const char* key, std::optional<std::int64_t> Layer::*member, int& target) {
    if (const auto value = weighing.pick(key, member)) target = static_cast<int>(*value);
  };
  bytes("downloads.max_artifact_bytes", &Layer::max_artifact_bytes, limits.max_artifact_bytes);
  bytes("downloads.max_unpacked_bytes", &Layer::max_unpacked_bytes, limits.max_unpacked_bytes);
  number("downloads.connect_timeout_seconds", &Layer::connect_timeout, limits.connect_timeout_seconds);
  number("downloads.stall_timeout_seconds", &Layer::stall_timeout, limits.stall_timeout_seconds);
  number("downloads.retries", &Layer::retries, limits.retries);
  number("probe_deadline_seconds", &Layer::probe_deadline, settings.probe_deadline_seconds);
}

// Proxies and certificates are libcurl's business; they are listed because they decide where requests go.
void record_transfer_environment(Weighing& weighing, const Environment& environment) {
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
                           "NO_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC"})
    if (const std::string* value = environment.find(name))
      weighing.record(name, without_password(*value), "environment");
}

}  // namespace

const Setting* Settings::find(const std::string& key) const {
  const auto found = std::find_if(effective.begin(), effective.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  return found != effective.end() ? &*found : nullptr;
}

Result<Settings> load_settings(const FlagValues& flags, const Environment& environment) {
  TRY_ASSIGN(const Layer from_flags, layer_of_flags(flags, environment));
  TRY_ASSIGN(const Layer from_environment, layer_of_environment(environment));
  const std::string* named = environment.find("ENGINEHOST_CONFIG");
  const fs::path user_file = named != nullptr ? fs::path(*named) : user_config_file(environment);
  if (named != nullptr && !user_file.is_absolute())
    return fail(diagnose("EH-P02")
                    .with("variable", "ENGINEHOST_CONFIG")
                    .with("key", "config")
                    .with("problem", "\"" + *named + "\" is not an absolute path"));
  ConfigFile user;
  if (!user_file.empty()) {
    TRY_ASSIGN(user, read_config_file(user_file, false, named != nullptr));
  }
  TRY_ASSIGN(ConfigFile system, read_config_file(environment.system_config, true, false));

  Settings settings;
  settings.policy = system.policy;
  settings.warnings = user.warnings;
  settings.warnings.insert(settings.warnings.end(), system.warnings.begin(), system.warnings.end());
  Weighing weighing(settings, {&from_flags, &from_environment, &user.layer, &system.layer}, system.locked);
  weighing.record("config", user_file.string(), named != nullptr ? "ENGINEHOST_CONFIG" : "default");
  add_repositories(settings, weighing, environment);
  choose_places(settings, weighing, environment);

  settings.flavor = weighing.pick("flavor", &Layer::flavor).value_or("");
  settings.device = weighing.pick("device", &Layer::device).value_or("");
  settings.force = weighing.pick("force", &Layer::force).value_or("");
  settings.probe_launcher =
      weighing.pick("probe_launcher", &Layer::probe_launcher).value_or(std::vector<std::string>{});
  settings.package_index = weighing.pick("package_index", &Layer::package_index).value_or("");
  const auto offline = weighing.pick("offline", &Layer::offline);
  settings.offline = offline.value_or(false);
  if (!offline) weighing.record("offline", "false", "default");
  const auto log = weighing.pick("log", &Layer::log);
  settings.log = log.value_or("warning");
  if (!log) weighing.record("log", settings.log, "default");
  choose_limits(settings, weighing);
  if (settings.policy.max_staleness_days)
    weighing.record("policy.max_staleness_days", text_of(*settings.policy.max_staleness_days),
                    settings.policy.file);
  if (!settings.policy.blocked.empty())
    weighing.record("policy.blocked", text_of(settings.policy.blocked), settings.policy.file);
  record_transfer_environment(weighing, environment);

  settings.accept_licenses = settings.policy.accepted_licenses;
  for (const std::string& license : flags.accept_licenses) {
    const auto& forbidden = settings.policy.forbidden_licenses;
    if (std::find(forbidden.begin(), forbidden.end(), license) != forbidden.end())
      weighing.refuse(diagnose("EH-P01")
                          .with("file", settings.policy.file)
                          .with("key", "policy.forbid_licenses")
                          .with("policy", "policy.forbid_licenses = " + join(forbidden, " "))
                          .with("what", "the licence " + license)
                          .with("flag", "--accept-license"));
    settings.accept_licenses.push_back(license);
  }
  if (weighing.conflict()) return fail(*weighing.conflict());
  return settings;
}

}  // namespace enginehost::settings
