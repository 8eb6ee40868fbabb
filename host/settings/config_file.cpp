#include <algorithm>

#include "base/files.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"
#include "base/version_specifier.hpp"
#include "host/settings/layer.hpp"

namespace enginehost::settings {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view policy_prefix = "policy.";

// Reads the members of one JSON object; the first mistake is kept in `mistake` and ends the reading.
class Members {
 public:
  // `newer`: the object is a policy; an unknown member is a mistake unless this list names it.
  Members(const Json& object, std::string file, std::string prefix,
          const std::vector<std::string>* newer = nullptr)
      : object_(object), file_(std::move(file)), prefix_(std::move(prefix)), newer_(newer) {}

  void refuse(std::string_view key, std::string problem) {
    if (!mistake) mistake = unusable(Key::file, file_, prefix_ + std::string(key), problem);
  }
  const Json* find(const char* key) {
    known_.push_back(key);
    return object_.find(key);
  }
  // Returns the value if the object has it and it can be used, else null. `name`: of the member.
  const Json* checked(const Declaration& declaration, const char* name) {
    const Json* value = find(name);
    const std::string problem = value != nullptr ? problem_of(declaration, *value) : std::string();
    if (!problem.empty()) refuse(name, problem);
    return problem.empty() ? value : nullptr;
  }
  // Leaves `target` as it is if the object has no such member.
  template <class T>
  void read(const Declaration& declaration, T& target) {
    if (const Json* value = checked(declaration, declaration.key)) declare::assign(target, *value);
  }
  // The name of a declared setting may be the last part of its key.
  void setting(const Declaration& declaration, const char* name, Layer& layer) {
    if (const Json* value = checked(declaration, name))
      layer.values.set(declaration.key,
                       declaration.member.kind == Kind::objects ? checked_mirrors(name, *value) : *value);
  }
  void repositories(const char* key, std::optional<std::vector<Repository>>& target) {
    const Json* value = checked({key, {Kind::objects}}, key);
    if (value == nullptr) return;
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
      if (const std::string problem = not_a_location(location.as_string()); !problem.empty())
        return refuse(key, problem);
      look_into(key, target->size(), element, {"location", "unsigned", "engines"});
      target->push_back({plain_location(location.as_string()), allowed.as_bool(), file_});
      for (const Json& engine : engines.as_array()) target->back().engines.push_back(engine.as_string());
    }
  }
  void accepted_licenses(const char* key, std::vector<AcceptedLicense>& target) {
    const Json* value = checked({key, {Kind::objects}}, key);
    if (value == nullptr) return;
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
  void versions(const char* key, std::map<std::string, std::string>& target) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_object()) return refuse(key, "an object is expected: {\"onnxruntime\": \"<1.32\"}");
    for (const auto& [engine, range] : value->as_object()) {
      const std::string problem = range.as_string().empty()
                                      ? "it is no text with a range of versions: \">=1.20,<2\""
                                      : VersionSpecifier(range.as_string()).problem();
      if (!problem.empty()) return refuse(key, "\"" + engine + "\": " + problem);
      target[engine] = range.as_string();
    }
  }
  // Warns of unknown members. One of a policy is refused, because a rule that does not hold must not look as
  // if it did, and most programs show no warnings.
  void judge_unknown(std::vector<std::string>& warnings) {
    judge_unknown(object_, "", known_);
    warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
  }

  std::vector<std::string> unknown() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object_.as_object())
      if (std::ranges::find(known_, key) == known_.end()) keys.push_back(key);
    return keys;
  }

  std::optional<Diagnosis> mistake;

 private:
  Json checked_mirrors(const char* key, const Json& value) {
    const auto folder_of = [](const Json& url) {
      return url.as_string().ends_with('/') ? url.as_string() : url.as_string() + "/";
    };
    Json mirrors = Json::array();
    for (const Json& element : value.as_array()) {
      const Json &of = element["of"], &use = element["use"];
      if (!is_url(of.as_string()) || !is_url(use.as_string()))
        refuse(key, "each element is {\"of\": URL, \"use\": URL}");
      // They are written to records of installed builds, which many users may read.
      if (of.as_string().find('@') != std::string::npos || use.as_string().find('@') != std::string::npos)
        refuse(key, "a URL holds no user and password here: put them into ~/.netrc");
      for (const Json* url : {&of, &use})
        if (const std::string problem = not_one_place(url->as_string()); !problem.empty())
          refuse(key, problem);
      look_into(key, mirrors.as_array().size(), element, {"of", "use"});
      mirrors.push(Json::object().set("of", folder_of(of)).set("use", folder_of(use)));
    }
    return mirrors;
  }
  // `place`: of the object below the prefix, "accept_licenses[0]."
  void judge_unknown(const Json& object, const std::string& place, const std::vector<std::string>& known) {
    for (const auto& [key, value] : object.as_object()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      const auto meant = nearest(to_lower(key), known);
      const std::string proposal = meant ? "; did you mean \"" + prefix_ + place + *meant + "\"?" : "";
      const std::string name = "\"" + prefix_ + place + key + "\"";
      if (newer_ == nullptr)
        warnings_.push_back(file_ + ": " + name + " is not a known setting" + proposal);
      else if (is_of_newer_version(place + key))
        warnings_.push_back(file_ + ": " + name +
                            " is passed over: this version does not know it, and policy.for_newer_versions "
                            "lists it");
      else
        refuse(place + key, name + " is no rule of this version" + proposal);
    }
  }
  // The list names "accept_licenses.until" for every element of accept_licenses.
  bool is_of_newer_version(const std::string& name) const {
    std::string listed = (prefix_ + name).substr(policy_prefix.size());
    if (const std::size_t place = listed.find('['); place != std::string::npos)
      listed.erase(place, listed.find(']') + 1 - place);
    return std::ranges::find(*newer_, listed) != newer_->end();
  }
  // Checks an element of a list that is an object with these members.
  void look_into(const char* key, std::size_t place, const Json& element,
                 const std::vector<std::string>& known) {
    judge_unknown(element, std::string(key) + "[" + std::to_string(place) + "].", known);
  }
  const Json& object_;
  std::string file_, prefix_;
  const std::vector<std::string>* newer_ = nullptr;
  std::vector<std::string> known_, warnings_;
};

constexpr std::string_view below_downloads = "downloads.";

// An element of allowed_hosts may begin with "*.", which matches every name below.
std::string not_a_host_pattern(const std::string& text) {
  const std::string problem = not_a_host(text.starts_with("*.") ? text.substr(2) : text);
  return problem.empty() ? problem : "\"" + text + "\" is not HOST or HOST:PORT, or \"*.\" before one";
}

std::string without_algorithm(const std::string& digest) {
  const std::string plain = to_lower(digest);
  return plain.starts_with("sha256:") ? plain.substr(7) : plain;
}

// A text that cannot be a digest would silently block nothing.
std::string not_a_digest(const std::string& text) {
  if (is_sha256_hex(without_algorithm(text))) return {};
  return "\"" + text + "\" is not a SHA-256 digest: 64 hexadecimal digits";
}

// Reads the values that both a configuration file and a policy block may hold.
Result<void> read_values(Members& members, const std::string& file, const std::string& prefix, Layer& layer,
                         std::vector<std::string>& warnings,
                         const std::vector<std::string>* newer = nullptr) {
  for (const Declaration& one : declarations)
    if (one.rules.in_files && !std::string_view(one.key).starts_with(below_downloads))
      members.setting(one, one.key, layer);
  const Json* downloads = members.find("downloads");
  if (downloads == nullptr) return {};
  if (!downloads->is_object()) {
    members.refuse("downloads", std::string("expected an object, found ") + downloads->type_name());
    return {};
  }
  Members limits(*downloads, file, prefix + "downloads.", newer);
  for (const Declaration& one : declarations)
    if (std::string_view(one.key).starts_with(below_downloads))
      limits.setting(one, one.key + below_downloads.size(), layer);
  limits.judge_unknown(warnings);
  if (limits.mistake) return fail(*limits.mistake);
  return {};
}

Result<void> read_policy(const Json& block, const std::string& file, ConfigFile& config) {
  const std::string prefix(policy_prefix);
  Members members(block, file, prefix, &config.newer_keys);
  const auto texts = [](const char* key, std::string (*problem)(const std::string&) = nullptr) {
    return Declaration{key, {Kind::texts}, {.problem = problem}};
  };
  members.read(texts("for_newer_versions"), config.newer_keys);
  config.locked.source = "policy of " + file;
  TRY(read_values(members, file, prefix, config.locked, config.warnings, &config.newer_keys));
  Policy& policy = config.policy;
  policy.file = file;
  members.read(texts("repositories", not_one_place), policy.allowed_repositories);
  members.read({"unsigned_repositories", {Kind::toggle}}, policy.unsigned_repositories);
  members.read(texts("allowed_hosts", not_a_host_pattern), policy.allowed_hosts);
  members.read({"require_signatures", {Kind::toggle}}, policy.require_signatures);
  members.read({"loaded_libraries", {Kind::toggle}}, policy.loaded_libraries);
  members.read({"vendor_facts", {Kind::toggle}}, policy.vendor_facts);
  members.read({"vendor_facts_repository", {Kind::text}, {.problem = not_a_location}},
               policy.vendor_facts_repository);
  policy.vendor_facts_repository = plain_location(policy.vendor_facts_repository);
  members.read({"updates", {Kind::toggle}}, policy.updates);
  members.read({"from_index", {Kind::toggle}}, policy.from_index);
  members.versions("versions", policy.versions);
  members.read(texts("locked"), config.locked_keys);
  members.accepted_licenses("accept_licenses", policy.accepted_licenses);
  members.read(texts("forbid_licenses"), policy.forbidden_licenses);
  members.read({"max_staleness_days", {Kind::number}, {.most = 36500}}, policy.max_staleness_days);
  members.read(texts("blocked", not_a_digest), policy.blocked);
  for (std::string& digest : policy.blocked) digest = without_algorithm(digest);
  members.judge_unknown(config.warnings);
  if (members.mistake) return fail(*members.mistake);
  return {};
}

// Returns what is wrong with an unknown key beside "policy" that was meant to be a rule; empty: nothing.
std::string misplaced_rule(const std::string& key) {
  const std::string lower = to_lower(key);
  if (lower.starts_with("polic") || nearest(lower, {"policy"}, 2))
    return "\"" + key + "\" is no key; did you mean \"policy\"?";
  constexpr std::string_view rules[] = {"unsigned_repositories",
                                        "allowed_hosts",
                                        "require_signatures",
                                        "locked",
                                        "accept_licenses",
                                        "forbid_licenses",
                                        "max_staleness_days",
                                        "blocked",
                                        "for_newer_versions",
                                        "loaded_libraries",
                                        "vendor_facts",
                                        "vendor_facts_repository",
                                        "updates",
                                        "from_index",
                                        "versions"};
  if (std::ranges::find(rules, lower) == std::end(rules)) return {};
  return "\"" + key + "\" is a rule of \"policy\": write \"" + lower + "\" into that block";
}

}  // namespace

Result<ConfigFile> read_config_file(const fs::path& file, bool is_system_file, bool must_exist) {
  ConfigFile config;
  config.layer.source = path_text(file);
  if (const auto problem =
          who_may_change(file, is_system_file ? Purpose::belief : Purpose::personal).problem) {
    const std::string reason = reason_of(*problem, file);
    config.exposed = problem->value(Key::folder);
    if (is_system_file)
      return fail(
          std::move(unusable(Key::file, path_text(file), "", "it is not the administrator's: " + reason)
                        .with(Key::exposed, config.exposed)));
    if (must_exist)
      return fail(std::move(unusable(Key::variable, "ENGINEHOST_CONFIG", "config",
                                     "the file " + path_text(file) + " is not safe: " + reason)
                                .with(Key::exposed, config.exposed)));
    config.warnings.push_back("the configuration " + path_text(file) + " is not used: " + reason);
    return config;
  }
  std::error_code error;
  const bool exists = fs::exists(file, error);
  // A policy that cannot be read must not count as missing: a dangling link, a link to itself, a folder that
  // may not be entered. The same holds for any file that is only temporarily unreadable.
  if (std::error_code unseen;
      !exists &&
      (is_transient(error.default_error_condition().value()) ||
       (is_system_file && (error || fs::symlink_status(file, unseen).type() == fs::file_type::symlink))))
    return fail(unusable(
        Key::file, path_text(file), "",
        "it cannot be read: " + (error ? error.message() : "it is a link to a file that is not there")));
  if (!exists && !must_exist) {
    // A folder that may not be entered (a service's home) must not stop the program.
    if (error) config.warnings.push_back(path_text(file) + " cannot be read: " + error.message());
    return config;
  }
  if (!exists)
    return fail(unusable(Key::variable, "ENGINEHOST_CONFIG", "config",
                         "the file " + path_text(file) + " does not exist"));
  TRY_ASSIGN(const std::string text, read_file(file, 1u << 20, Code::configuration_wrong));
  auto parsed = parse_json(text, path_text(file));
  if (!parsed) return fail(std::move(parsed.error().with(Key::place, "configuration")));
  const Json document = std::move(*parsed);
  if (!document.is_object())
    return fail(unusable(Key::file, path_text(file), "",
                         std::string("expected an object, found ") + document.type_name()));

  Members members(document, path_text(file), "");
  members.repositories("repositories", config.layer.repositories);
  TRY(read_values(members, path_text(file), "", config.layer, config.warnings));
  const Json* policy = members.find("policy");
  members.find("$schema");
  members.judge_unknown(config.warnings);
  if (is_system_file)
    for (const std::string& key : members.unknown())
      if (const std::string problem = misplaced_rule(key); !problem.empty()) members.refuse(key, problem);
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
