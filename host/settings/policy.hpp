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

// True when the list is empty, or the location is one of it or lies below one: "https://a.example.evil" does
// not lie in "https://a.example".
bool lies_in(const std::string& location, const std::vector<std::string>& allowed);

// Of every request and every redirection, by the URL's own host; a proxy on the way is not asked about.
Result<void> check_host(const Policy& policy, std::string_view url);

// A licence that nobody on this machine may accept, by whatever way.
std::optional<Diagnosis> forbidden_license(const Policy& policy, const std::string& id);

// Accepting is the administrator's alone (policy.locked names accept_licenses), and this one is not accepted.
std::optional<Diagnosis> consent_locked(const Policy& policy, const std::string& id);

// The administrator's acceptance for everyone; `sha256` of the text as the manifest has it, or empty.
bool accepts_license(const Policy& policy, const std::string& id, const std::string& sha256);

// A value that a request brings beside the settings (a flavor, a device) against a key that the policy locks;
// `value` empty: nothing was asked. EH-P01 when it differs from what stands.
Result<void> check_locked(const Settings& settings, const std::string& key, const std::string& value);

}  // namespace enginehost::settings
