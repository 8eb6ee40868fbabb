#include "host/settings/policy.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version_specifier.hpp"

namespace enginehost::settings {
namespace {

struct HostAndPort {
  std::string host, port;
};

// "example.org", "example.org:8443", "[::1]:80"
HostAndPort parts_of(std::string text) {
  const std::size_t bracket = text.rfind(']'), colon = text.rfind(':');
  HostAndPort parts;
  if (colon != std::string::npos &&
      (bracket == std::string::npos ? text.find(':') == colon : colon > bracket)) {
    parts.port = text.substr(colon + 1);
    text.resize(colon);
  }
  parts.host = to_lower(text);
  while (parts.host.ends_with('.')) parts.host.pop_back();  // the DNS root
  return parts;
}

// Returns the host of "https://user:secret@Host:8443/path?query#part" in the form used for a lookup.
HostAndPort host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::string_view after = url.substr(scheme + 3);
  std::string_view authority = after.substr(0, after.find_first_of("/?#"));
  // URL parsers disagree about backslashes and escapes: one might connect to another host than this one.
  if (authority.find('\\') != std::string_view::npos) return {};
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
    authority.remove_prefix(at + 1);
  if (!authority.starts_with('[') && authority.find('%') != std::string_view::npos) return {};
  HostAndPort parts = parts_of(std::string(authority));
  if (parts.port.empty()) parts.port = to_lower(url.substr(0, scheme)) == "https" ? "443" : "80";
  return parts;
}

// A pattern without a port allows any port. "*.example.org" matches every host below example.org, but not
// example.org itself.
bool fits(const HostAndPort& host, const std::string& pattern) {
  const HostAndPort wanted = parts_of(pattern);
  if (!wanted.port.empty() && wanted.port != host.port) return false;
  if (wanted.host.starts_with("*.")) return host.host.ends_with(wanted.host.substr(1));
  return host.host == wanted.host;
}

}  // namespace

bool Policy::locks(const std::string& key) const { return std::ranges::find(locked, key) != locked.end(); }

Diagnosis refusal(const Policy& policy, const std::string& key, const std::string& value,
                  const std::string& what) {
  return diagnose(Code::forbidden_by_policy)
      .with(Key::file, policy.file)
      .with(Key::key, "policy." + key)
      .with(Key::policy, "policy." + key + " = " + value)
      .with(Key::what, what);
}

std::string list_text(const std::vector<std::string>& values) {
  return values.empty() ? "[]" : without_passwords(join(values, " "));
}

bool lies_in(const std::string& location, const std::optional<std::vector<std::string>>& allowed) {
  if (!allowed) return true;
  // The server might read it as a place above the entry.
  if (!ambiguity_of(location).empty()) return false;
  const std::string place = identity_of_location(location);
  if (place.find("/../") != std::string::npos || place.ends_with("/..")) return false;
  return std::any_of(allowed->begin(), allowed->end(), [&](const std::string& one) {
    std::string prefix = identity_of_location(one);
    if (place == prefix) return true;
    if (!prefix.ends_with('/')) prefix += '/';
    return place.starts_with(prefix);
  });
}

bool lists(const Settings& settings, const std::string& location) {
  return std::any_of(settings.repositories.begin(), settings.repositories.end(), [&](const Repository& one) {
    return identity_of_location(one.location) == identity_of_location(location);
  });
}

std::string own_repository(const Settings& settings) {
  for (const Repository& repository : settings.repositories)
    if (repository.source == "default") return repository.location;
  return {};
}

const std::string* excluding_range(const Policy& policy, const std::string& engine,
                                   std::string_view version) {
  const auto range = policy.versions.find(engine);
  if (range == policy.versions.end() || VersionSpecifier(range->second).accepts(version)) return nullptr;
  return &range->second;
}

std::string derived_repository(const Settings& settings) {
  const std::filesystem::path& state = settings.state_folder;
  return state.empty() ? std::string() : plain_location(path_text(state / "from-index"));
}

Result<void> check_origin(const Settings& settings, const std::string& build, const std::string& repository,
                          const std::string& doubt) {
  const Policy& policy = settings.policy;
  const bool locked = policy.locks("repositories");
  if (!locked && !policy.allowed_repositories) return {};
  // With a lock, only the administrator's repositories count.
  const bool allowed = !repository.empty() && lies_in(repository, policy.allowed_repositories) &&
                       (!locked || lists(settings, repository));
  if (allowed && doubt.empty()) return {};
  std::string what = build + " of a bundle, ";
  if (repository.empty())
    what += "which names no repository as its origin";
  else if (!allowed)
    what += "which comes from the repository \"" + repository + "\"";
  else
    what += "whose origin, the repository \"" + repository + "\", only the bundle states: " + doubt;
  Diagnosis refused = policy.allowed_repositories
                          ? refusal(policy, "repositories", list_text(*policy.allowed_repositories), what)
                          : refusal(policy, "locked", "repositories", what);
  return fail(std::move(refused.with(Key::build, build).with(Key::repository, repository)));
}

Diagnosis unsigned_refused(const Policy& policy, const std::string& what) {
  return policy.require_signatures ? refusal(policy, "require_signatures", "true", what)
                                   : refusal(policy, "unsigned_repositories", "false", what);
}

Result<void> check_host(const Policy& policy, std::string_view url) {
  if (!policy.allowed_hosts) return {};
  const HostAndPort host = host_of(url);
  if (!host.host.empty())
    for (const std::string& pattern : *policy.allowed_hosts)
      if (fits(host, pattern)) return {};
  return fail(refusal(policy, "allowed_hosts", list_text(*policy.allowed_hosts),
                      "the host " + (host.host.empty() ? "of that URL" : host.host + ":" + host.port)));
}

namespace {

// Returns the ids that an SPDX expression names: "(MIT OR LicenseRef-Trial)".
std::vector<std::string> ids_of(std::string_view expression) {
  std::vector<std::string> ids(1);
  for (const char c : to_lower(expression)) {
    const bool separates = std::string_view(" \t\r\n()").find(c) != std::string_view::npos;
    if (!separates)
      ids.back() += c;
    else if (!ids.back().empty())
      ids.emplace_back();
  }
  return ids;
}

}  // namespace

// SPDX compares ids without case. A publisher's spelling must not evade the rule.
std::optional<Diagnosis> forbidden_license(const Policy& policy, const std::string& id) {
  const std::vector<std::string> named = ids_of(id);
  const auto is_named = [&](const std::string& one) {
    const std::string lower = to_lower(one);
    return lower == to_lower(id) || std::ranges::find(named, lower) != named.end();
  };
  const auto& forbidden = policy.forbidden_licenses;
  if (std::ranges::none_of(forbidden, is_named)) return std::nullopt;
  return refusal(policy, "forbid_licenses", join(forbidden, " "), "the license " + id);
}

std::optional<Diagnosis> consent_locked(const Policy& policy, const std::string& id) {
  if (!policy.locks("accept_licenses")) return std::nullopt;
  return refusal(policy, "locked", "accept_licenses", "accepting the license " + id);
}

std::optional<Diagnosis> forbidden_loaded(const Policy& policy, const std::string& library,
                                          const std::string& build) {
  if (policy.loaded_libraries) return std::nullopt;
  return refusal(policy, "loaded_libraries", "false",
                 "using " + library + ", which the program had loaded, for " + build);
}

std::optional<Diagnosis> forbidden_update(const Settings& settings, const std::string& engine) {
  const Policy& policy = settings.policy;
  const std::string what = "updating " + engine;
  if (!policy.updates) return refusal(policy, "updates", "false", what);
  if (policy.locks("update") && settings.update == "never") return refusal(policy, "update", "never", what);
  return std::nullopt;
}

std::optional<Diagnosis> forbidden_from_index(const Settings& settings) {
  const Policy& policy = settings.policy;
  const std::string what = "builds that are derived here from the package index";
  if (!policy.from_index) return refusal(policy, "from_index", "false", what);
  if (policy.require_signatures || !policy.unsigned_repositories)
    return unsigned_refused(policy, what + ", which nobody signed,");
  if (policy.locks("repositories")) return refusal(policy, "locked", "repositories", what);
  if (!lies_in(derived_repository(settings), policy.allowed_repositories))
    return refusal(policy, "repositories", list_text(*policy.allowed_repositories), what);
  return std::nullopt;
}

bool accepts_license(const Policy& policy, const std::string& id, const std::string& sha256,
                     bool is_verified) {
  return std::ranges::any_of(policy.accepted_licenses, [&](const AcceptedLicense& license) {
    return license.id == id && (license.sha256.empty() ? is_verified : license.sha256 == sha256);
  });
}

std::uint64_t bytes_to_hash(const Settings& settings) {
  return settings.verify == "full" ? UINT64_MAX : settings.verify == "sample" ? 32u << 20 : 0;
}

Result<void> check_locked(const Settings& settings, const std::string& key, const std::string& value) {
  if (value.empty() || !settings.policy.locks(key)) return {};
  const Setting* standing = settings.find(key);
  if (standing != nullptr && standing->value == value) return {};
  return fail(refusal(settings.policy, standing != nullptr ? key : "locked",
                      standing != nullptr ? standing->value : key, "the " + key + " " + value));
}

}  // namespace enginehost::settings
