// What the machine's policy allows, asked where it matters. Every refusal is EH-P01 with "file", "key",
// "policy" (the rule as it is written) and "what" (what it does not allow).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::settings {

// A list of the policy for people; an empty one is "[]".
std::string list_text(const std::vector<std::string>& values);
// The rule as it is written in the policy, for reports: "policy.allowed_hosts = a.example b.example", and of
// an empty list "policy.allowed_hosts = []".
std::string rule_text(const std::string& key, const std::vector<std::string>& values);

// True when there is no list, or the location is one of it or lies below one: "https://a.example.evil" does
// not lie in "https://a.example". In an empty list lies nothing.
bool lies_in(const std::string& location, const std::optional<std::vector<std::string>>& allowed);

// Whether the settings have the repository already, however its location is written.
bool lists(const Settings& settings, const std::string& location);

// A build that crosses on a medium, where the policy lists or locks the repositories: it counts as one of the
// repository that it comes from (`repository`; empty: it says of none) when that may serve, and nothing makes
// that only the medium's word (`doubt`, "no trusted key signed it"; empty: nothing does).
Result<void> check_origin(const Settings& settings, const std::string& build, const std::string& repository,
                          const std::string& doubt);

// What nobody signed, where the policy demands signatures of all (require_signatures) or of every repository
// (unsigned_repositories is false).
Diagnosis unsigned_refused(const Policy& policy, const std::string& what);

// Of every request and every redirection, by the URL's own host; a proxy on the way is not asked about.
Result<void> check_host(const Policy& policy, std::string_view url);

// A license that nobody on this machine may accept, by whatever way.
std::optional<Diagnosis> forbidden_license(const Policy& policy, const std::string& id);

// Accepting is the administrator's alone (policy.locked names accept_licenses), and this one is not accepted.
std::optional<Diagnosis> consent_locked(const Policy& policy, const std::string& id);

// The administrator's acceptance for everyone; `sha256` of the text as the manifest has it, or empty.
bool accepts_license(const Policy& policy, const std::string& id, const std::string& sha256);

// A value that a request brings beside the settings (a flavor, a device) against a key that the policy locks;
// `value` empty: nothing was asked. EH-P01 when it differs from what stands.
Result<void> check_locked(const Settings& settings, const std::string& key, const std::string& value);

}  // namespace enginehost::settings
