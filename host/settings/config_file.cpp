#include <algorithm>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"
#include "host/settings/layer.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

// Reads the members of one JSON object; the first mistake is kept in `mistake` and ends the reading.
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
    return object_.find(key);
  }
  void text(const char* key, std::optional<std::string>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return refuse(key, wrong_type(*value, "a string"));
    target = value->as_string();
  }
  // Refuses an empty name, because an unset value is expressed by leaving the key out.
  void name(const char* key, std::optional<std::string>& target) {
    text(key, target);
    if (target && target->empty()) refuse(key, "it is empty: give it a value, or leave it out");
  }
  void folder(const char* key, std::optional<std::string>& target) {
    text(key, target);
    // A relative path would mean another folder for each program that reads this file.
    if (target && !path_of(*target).is_absolute()) refuse(key, "\"" + *target + "\" is not an absolute path");
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
      if (element.as_string().empty()) return refuse(key, "an element of the list is empty");
      if (folders && !path_of(element.as_string()).is_absolute())
        return refuse(key, "\"" + element.as_string() + "\" is not an absolute path");
      target->push_back(element.as_string());
    }
  }
  // Reads server names. A pattern may begin with "*.", which matches every name below.
  void hosts(const char* key, std::optional<std::vector<std::string>>& target, bool patterns) {
    texts(key, target);
    for (const std::string& host : target.value_or(std::vector<std::string>{})) {
      const std::string_view name = std::string_view(host).substr(patterns && host.starts_with("*.") ? 2 : 0);
      if (name.empty() || name.find_first_of("/\\@=?#* ") != std::string_view::npos)
        return refuse(
            key, "\"" + host + "\" is not HOST or HOST:PORT" + (patterns ? ", or \"*.\" before one" : ""));
    }
  }
  // Refuses texts that cannot be a digest, because they would silently block nothing.
  void digests(const char* key, std::optional<std::vector<std::string>>& target) {
    texts(key, target);
    if (!target) return;
    for (std::string& digest : *target) {
      std::string plain = to_lower(digest);
      if (plain.starts_with("sha256:")) plain.erase(0, 7);
      if (!is_sha256_hex(plain))
        return refuse(key, "\"" + digest + "\" is not a SHA-256 digest: 64 hexadecimal digits");
      digest = std::move(plain);
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
        return refuse(key,
                      "each element is a URL, a folder, or {\"location\": …, \"unsigned\": true, "
                      "\"engines\": […]}");
      const Json& engines = element["engines"];
      const auto is_name = [](const Json& one) { return one.is_string() && !one.as_string().empty(); };
      if (!engines.is_null() && (!engines.is_array() || engines.as_array().empty() ||
                                 !std::ranges::all_of(engines.as_array(), is_name)))
        return refuse(key,
                      "\"engines\" of " + location.as_string() + " is a list of engines: [\"onnxruntime\"]");
      if (!is_url(location.as_string()) && !path_of(location.as_string()).is_absolute())
        return refuse(key, "\"" + location.as_string() + "\" is neither a URL nor an absolute folder");
      look_into(key, target->size(), element, {"location", "unsigned", "engines"});
      target->push_back({plain_location(location.as_string()), allowed.as_bool(), file_});
      for (const Json& engine : engines.as_array()) target->back().engines.push_back(engine.as_string());
    }
  }
  void mirrors(const char* key, std::optional<std::vector<Mirror>>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return refuse(key, wrong_type(*value, "a list"));
    target.emplace();
    const auto folder_of = [](const Json& url) {
      return url.as_string().ends_with('/') ? url.as_string() : url.as_string() + "/";
    };
    for (const Json& element : value->as_array()) {
      const Json &of = element["of"], &use = element["use"];
      if (!is_url(of.as_string()) || !is_url(use.as_string()))
        return refuse(key, "each element is {\"of\": URL, \"use\": URL}");
      // They are written to records of installed builds, which many users may read.
      if (of.as_string().find('@') != std::string::npos || use.as_string().find('@') != std::string::npos)
        return refuse(key, "a URL holds no user and password here: put them into ~/.netrc");
      look_into(key, target->size(), element, {"of", "use"});
      target->push_back({folder_of(of), folder_of(use)});
    }
  }
  void accepted_licenses(const char* key, std::vector<AcceptedLicense>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return refuse(key, wrong_type(*value, "a list"));
    for (const Json& element : value->as_array()) {
      const Json& id = element.is_object() ? element["id"] : element;
      const Json& sha256 = element["sha256"];
      if (!id.is_string() || id.as_string().empty() ||
          !(sha256.is_null() || is_sha256_hex(sha256.as_string())))
        return refuse(key, "each element is a license id or {\"id\": …, \"sha256\": digest of its text}");
      look_into(key, target.size(), element, {"id", "sha256"});
      target.push_back({id.as_string(), sha256.as_string()});
    }
  }
  void warn_unknown(std::vector<std::string>& warnings) const {
    warn_unknown(object_, prefix_, known_, warnings);
    warnings.insert(warnings.end(), of_elements_.begin(), of_elements_.end());
  }

  std::optional<Diagnosis> mistake;

 private:
  void warn_unknown(const Json& object, const std::string& prefix, const std::vector<std::string>& known,
                    std::vector<std::string>& warnings) const {
    for (const auto& [key, value] : object.as_object()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string warning = file_ + ": \"" + prefix + key + "\" is not a known setting";
      if (const auto meant = nearest(key, known)) warning += "; did you mean \"" + prefix + *meant + "\"?";
      warnings.push_back(warning);
    }
  }
  // Checks an element of a list that is an object with these members.
  void look_into(const char* key, std::size_t place, const Json& element,
                 const std::vector<std::string>& known) {
    warn_unknown(element, prefix_ + key + "[" + std::to_string(place) + "].", known, of_elements_);
  }
  static std::string wrong_type(const Json& value, const char* wanted) {
    return std::string("expected ") + wanted + ", found " + value.type_name();
  }

  const Json& object_;
  std::string file_, prefix_;
  std::vector<std::string> known_, of_elements_;
};

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
// The proxy kinds of libcurl. The value is not printed because it may contain a password.
bool is_proxy(const std::string& url) {
  for (const char* scheme : {"http://", "https://", "socks4://", "socks4a://", "socks5://", "socks5h://"})
    if (url.starts_with(scheme)) return true;
  return false;
}

// Reads the values that both a configuration file and a policy block may hold.
void read_values(Members& members, Layer& layer) {
  members.flag("repositories_default", layer.repositories_default);
  members.folder("cache", layer.cache);
  members.folder("state", layer.state);
  members.texts("system_layers", layer.system_layers, true);
  members.texts("installations", layer.installations, true);
  members.name("flavor", layer.flavor);
  members.name("device", layer.device);
  if (const std::string wrong = not_a_device(layer.device.value_or("")); !wrong.empty())
    members.refuse("device", wrong);
  members.flag("offline", layer.offline);
  members.text("log", layer.log);
  if (layer.log && !is_log_level(*layer.log))
    members.refuse("log", "\"" + *layer.log + "\" is none of error, warning, info, debug");
  members.text("verify", layer.verify);
  if (layer.verify && *layer.verify != "stamps" && *layer.verify != "sample" && *layer.verify != "full")
    members.refuse("verify", "\"" + *layer.verify + "\" is none of stamps, sample, full");
  members.texts("probe_launcher", layer.probe_launcher);
  constexpr std::int64_t one_hour = 3600;
  members.number("probe_deadline_seconds", 1, one_hour, layer.probe_deadline);
  members.number("probe_memory_bytes", 0, most_bytes, layer.probe_memory_bytes);
  members.number("cache_max_bytes", 1, most_bytes, layer.cache_max_bytes);
  members.folder("helper", layer.helper);
  members.hosts("plain_http_registries", layer.plain_http_registries, false);
  members.texts("registry_mirrors", layer.registry_mirrors);
  for (const std::string& rule : layer.registry_mirrors.value_or(std::vector<std::string>{})) {
    const std::vector<std::string> sides = split(rule, '=');
    if (sides.size() != 2 || sides[0].empty() || sides[1].empty() ||
        rule.find_first_of("/@ ") != std::string::npos)
      members.refuse("registry_mirrors", "\"" + rule + "\" is not HOST[:PORT]=MIRROR[:PORT]");
  }
  members.folder("extra_ca", layer.extra_ca);
  members.text("proxy", layer.proxy);
  if (layer.proxy && !is_proxy(*layer.proxy))
    members.refuse("proxy", "it is not the URL of a proxy (http://, https:// or socks5h://)");
  members.text("no_proxy", layer.no_proxy);
  members.text("package_index", layer.package_index);
  if (layer.package_index)
    if (const std::string wrong = not_an_index(*layer.package_index); !wrong.empty())
      members.refuse("package_index", wrong);
  members.mirrors("mirrors", layer.mirrors);
  members.number("audit_rotate_bytes", 4096, most_bytes, layer.audit_rotate_bytes);
}

Result<void> read_downloads(Members& above, const std::string& file, const std::string& prefix, Layer& layer,
                            std::vector<std::string>& warnings) {
  const Json* downloads = above.find("downloads");
  if (downloads == nullptr) return {};
  if (!downloads->is_object()) {
    above.refuse("downloads", std::string("expected an object, found ") + downloads->type_name());
    return {};
  }
  Members members(*downloads, file, prefix + "downloads.");
  members.number("max_artifact_bytes", 1, most_bytes, layer.max_artifact_bytes);
  members.number("max_unpacked_bytes", 1, most_bytes, layer.max_unpacked_bytes);
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
  std::optional<std::vector<std::string>> repositories, hosts, forbidden, locked, blocked;
  std::optional<bool> unsigned_repositories, require_signatures;
  members.texts("repositories", repositories);
  members.flag("unsigned_repositories", unsigned_repositories);
  members.hosts("allowed_hosts", hosts, true);
  members.flag("require_signatures", require_signatures);
  members.texts("locked", locked);
  members.accepted_licenses("accept_licenses", config.policy.accepted_licenses);
  members.texts("forbid_licenses", forbidden);
  members.number("max_staleness_days", 0, 36500, config.policy.max_staleness_days);
  members.digests("blocked", blocked);
  members.warn_unknown(config.warnings);
  if (members.mistake) return fail(*members.mistake);
  config.policy.file = file;
  config.policy.allowed_repositories = std::move(repositories);
  config.policy.unsigned_repositories = unsigned_repositories.value_or(true);
  config.policy.allowed_hosts = std::move(hosts);
  config.policy.require_signatures = require_signatures.value_or(false);
  config.locked_keys = locked.value_or(std::vector<std::string>{});
  config.policy.blocked = blocked.value_or(std::vector<std::string>{});
  config.policy.forbidden_licenses = forbidden.value_or(std::vector<std::string>{});
  return {};
}

}  // namespace

Result<ConfigFile> read_config_file(const fs::path& file, bool is_system_file, bool must_exist) {
  ConfigFile config;
  config.layer.source = path_text(file);
  std::error_code error;
  const bool exists = fs::exists(file, error);
  // A policy that cannot be read must not count as missing: a dangling link, a link to itself, a folder that
  // may not be entered. The same holds for any file that is only temporarily unreadable.
  if (std::error_code unseen;
      !exists &&
      (is_transient(error.default_error_condition().value()) ||
       (is_system_file && (error || fs::symlink_status(file, unseen).type() == fs::file_type::symlink))))
    return fail(
        diagnose("EH-P02")
            .with("file", path_text(file))
            .with("key", "")
            .with("problem", "it cannot be read: " +
                                 (error ? error.message() : "it is a link to a file that is not there")));
  if (!exists && !must_exist) {
    // A folder that may not be entered (a service's home) must not stop the program.
    if (error) config.warnings.push_back(path_text(file) + " cannot be read: " + error.message());
    return config;
  }
  if (!exists)
    return fail(diagnose("EH-P02")
                    .with("variable", "ENGINEHOST_CONFIG")
                    .with("key", "config")
                    .with("problem", "the file " + path_text(file) + " does not exist"));
  TRY_ASSIGN(const std::string text, read_file(file, 1u << 20, "EH-P02"));
  auto parsed = parse_json(text, path_text(file));
  if (!parsed) return fail(std::move(parsed.error().with("place", "configuration")));
  const Json document = std::move(*parsed);
  if (!document.is_object())
    return fail(diagnose("EH-P02")
                    .with("file", path_text(file))
                    .with("key", "")
                    .with("problem", std::string("expected an object, found ") + document.type_name()));

  Members members(document, path_text(file), "");
  members.repositories("repositories", config.layer.repositories);
  read_values(members, config.layer);
  TRY(read_downloads(members, path_text(file), "", config.layer, config.warnings));
  const Json* policy = members.find("policy");
  members.find("$schema");
  members.warn_unknown(config.warnings);
  if (policy != nullptr && !policy->is_object())
    members.refuse("policy", std::string("expected an object, found ") + policy->type_name());
  if (members.mistake) return fail(*members.mistake);
  if (policy != nullptr && is_system_file) TRY(read_policy(*policy, path_text(file), config));
  if (policy != nullptr && !is_system_file)
    config.warnings.push_back(path_text(file) +
                              ": \"policy\" counts only in the system's file and is ignored here");
  return config;
}

}  // namespace enginehost::settings
