#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/settings/layer.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// Reads the members of one JSON object; the first mistake stays in `mistake` and ends the reading.
class Members {
 public:
  Members(const Json& object, std::string file, std::string prefix)
      : object_(object), file_(std::move(file)), prefix_(std::move(prefix)) {}

  void refuse(std::string_view key, std::string problem) {
    if (!mistake)
      mistake = diagnose("EH-P02")
                    .with("file", file_)
                    .with("key", prefix_ + std::string(key))
                    .with("problem", problem);
  }
  const Json* find(const char* key) {
    known_.push_back(key);
    const Json* value = object_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void text(const char* key, std::optional<std::string>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return refuse(key, wrong_type(*value, "a string"));
    target = value->as_string();
  }
  void folder(const char* key, std::optional<std::string>& target) {
    text(key, target);
    // A relative path would mean another folder for every program that reads this file.
    if (target && !fs::path(*target).is_absolute())
      refuse(key, "\"" + *target + "\" is not an absolute path");
  }
  void flag(const char* key, std::optional<bool>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_bool()) return refuse(key, wrong_type(*value, "true or false"));
    target = value->as_bool();
  }
  void number(const char* key, std::int64_t least, std::int64_t most, std::optional<std::int64_t>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_integer()) return refuse(key, wrong_type(*value, "a whole number"));
    if (value->as_integer() < least || value->as_integer() > most)
      return refuse(
          key, value->dump() + " is not between " + std::to_string(least) + " and " + std::to_string(most));
    target = value->as_integer();
  }
  void texts(const char* key, std::optional<std::vector<std::string>>& target, bool folders = false) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return refuse(key, wrong_type(*value, "a list of strings"));
    target.emplace();
    for (const Json& element : value->as_array()) {
      if (!element.is_string()) return refuse(key, wrong_type(element, "a string") + " in the list");
      if (folders && !fs::path(element.as_string()).is_absolute())
        return refuse(key, "\"" + element.as_string() + "\" is not an absolute path");
      target->push_back(element.as_string());
    }
  }
  void repositories(const char* key, std::optional<std::vector<Repository>>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return refuse(key, wrong_type(*value, "a list"));
    target.emplace();
    for (const Json& element : value->as_array()) {
      const Json& location = element.is_object() ? element["location"] : element;
      const Json& allowed = element["unsigned"];
      if (!location.is_string() || location.as_string().empty() || !(allowed.is_null() || allowed.is_bool()))
        return refuse(key, "each element is a URL, a folder, or {\"location\": …, \"unsigned\": true}");
      if (!is_url(location.as_string()) && !fs::path(location.as_string()).is_absolute())
        return refuse(key, "\"" + location.as_string() + "\" is neither a URL nor an absolute folder");
      target->push_back({location.as_string(), allowed.as_bool(), file_});
    }
  }
  void warn_unknown(std::vector<std::string>& warnings) const {
    for (const auto& [key, value] : object_.as_object()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      std::string warning = file_ + ": \"" + prefix_ + key + "\" is not a known setting";
      if (const auto meant = nearest(key, known_)) warning += "; did you mean \"" + prefix_ + *meant + "\"?";
      warnings.push_back(warning);
    }
  }

  std::optional<Diagnosis> mistake;

 private:
  static std::string wrong_type(const Json& value, const char* wanted) {
    return std::string("expected ") + wanted + ", found " + value.type_name();
  }

  const Json& object_;
  std::string file_, prefix_;
  std::vector<std::string> known_;
};

// The values that both a configuration file and a policy block may hold.
void read_values(Members& members, Layer& layer) {
  members.flag("repositories_default", layer.repositories_default);
  members.folder("cache", layer.cache);
  members.folder("state", layer.state);
  members.texts("system_layers", layer.system_layers, true);
  members.text("flavor", layer.flavor);
  members.text("device", layer.device);
  members.flag("offline", layer.offline);
  members.text("log", layer.log);
  if (layer.log && !is_log_level(*layer.log))
    members.refuse("log", "\"" + *layer.log + "\" is none of error, warning, info, debug");
  members.texts("probe_launcher", layer.probe_launcher);
  constexpr std::int64_t one_hour = 3600;
  members.number("probe_deadline_seconds", 1, one_hour, layer.probe_deadline);
  members.folder("helper", layer.helper);
  members.text("package_index", layer.package_index);
  if (layer.package_index && !is_url(*layer.package_index))
    members.refuse("package_index", "\"" + *layer.package_index + "\" is not a URL");
}

Result<void> read_downloads(Members& above, const std::string& file, const std::string& prefix, Layer& layer,
                            std::vector<std::string>& warnings) {
  const Json* downloads = above.find("downloads");
  if (downloads == nullptr) return {};
  if (!downloads->is_object()) {
    above.refuse("downloads", std::string("expected an object, found ") + downloads->type_name());
    return {};
  }
  constexpr std::int64_t most = std::int64_t{1} << 50;
  Members members(*downloads, file, prefix + "downloads.");
  members.number("max_artifact_bytes", 1, most, layer.max_artifact_bytes);
  members.number("max_unpacked_bytes", 1, most, layer.max_unpacked_bytes);
  members.number("connect_timeout_seconds", 1, 3600, layer.connect_timeout);
  members.number("stall_timeout_seconds", 1, 3600, layer.stall_timeout);
  members.number("retries", 0, 100, layer.retries);
  members.warn_unknown(warnings);
  if (members.mistake) return fail(*members.mistake);
  return {};
}

Result<void> read_policy(const Json& block, const std::string& file, ConfigFile& config) {
  Members members(block, file, "policy.");
  config.locked.source = "policy of " + file;
  read_values(members, config.locked);
  TRY(read_downloads(members, file, "policy.", config.locked, config.warnings));
  std::optional<std::vector<std::string>> repositories, accepted, forbidden, blocked;
  std::optional<bool> unsigned_repositories;
  members.texts("repositories", repositories);
  members.flag("unsigned_repositories", unsigned_repositories);
  members.texts("accept_licenses", accepted);
  members.texts("forbid_licenses", forbidden);
  members.number("max_staleness_days", 0, 36500, config.policy.max_staleness_days);
  members.texts("blocked", blocked);
  members.warn_unknown(config.warnings);
  if (members.mistake) return fail(*members.mistake);
  config.policy.file = file;
  config.policy.allowed_repositories = repositories.value_or(std::vector<std::string>{});
  config.policy.unsigned_repositories = unsigned_repositories.value_or(true);
  config.policy.accepted_licenses = accepted.value_or(std::vector<std::string>{});
  config.policy.blocked = blocked.value_or(std::vector<std::string>{});
  config.policy.forbidden_licenses = forbidden.value_or(std::vector<std::string>{});
  return {};
}

}  // namespace

Result<ConfigFile> read_config_file(const fs::path& file, bool is_system_file, bool must_exist) {
  ConfigFile config;
  config.layer.source = file.string();
  std::error_code error;
  const bool exists = fs::exists(file, error);
  if (!exists && !must_exist) {
    // A folder that may not be entered (a service's home) must not keep the program from working.
    if (error) config.warnings.push_back(file.string() + " cannot be read: " + error.message());
    return config;
  }
  if (!exists)
    return fail(diagnose("EH-P02")
                    .with("variable", "ENGINEHOST_CONFIG")
                    .with("key", "config")
                    .with("problem", "the file " + file.string() + " does not exist"));
  TRY_ASSIGN(const std::string text, read_file(file, 1u << 20, "EH-P02"));
  TRY_ASSIGN(const Json document, parse_json(text, file.string()));
  if (!document.is_object())
    return fail(diagnose("EH-P02")
                    .with("file", file.string())
                    .with("key", "")
                    .with("problem", std::string("expected an object, found ") + document.type_name()));

  Members members(document, file.string(), "");
  members.repositories("repositories", config.layer.repositories);
  read_values(members, config.layer);
  TRY(read_downloads(members, file.string(), "", config.layer, config.warnings));
  const Json* policy = members.find("policy");
  members.find("$schema");
  members.warn_unknown(config.warnings);
  if (policy != nullptr && !policy->is_object())
    members.refuse("policy", std::string("expected an object, found ") + policy->type_name());
  if (members.mistake) return fail(*members.mistake);
  if (policy != nullptr && is_system_file) TRY(read_policy(*policy, file.string(), config));
  if (policy != nullptr && !is_system_file)
    config.warnings.push_back(file.string() +
                              ": \"policy\" counts only in the system's file and is ignored here");
  return config;
}

}  // namespace enginehost::settings
