// Checks against the machine's policy, made where a rule applies. Every refusal is EH-P01 with "file", "key",
// "policy" (the rule as written) and "what" (what it forbids).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::settings {

// Formats a list of the policy for people; an empty one is "[]".
std::string list_text(const std::vector<std::string>& values);
// A refusal by the rule "policy.KEY = VALUE".
Diagnosis refusal(const Policy& policy, const std::string& key, const std::string& value,
                  const std::string& what);

// Returns true when there is no list, or the location is in it or lies below an entry:
// "https://a.example.evil" does not lie below "https://a.example". Nothing lies in an empty list, and a URL
// that servers read in several ways (base/location.hpp) lies in none.
bool lies_in(const std::string& location, const std::optional<std::vector<std::string>>& allowed);

// Returns whether the settings already have the repository, however its location is written.
bool lists(const Settings& settings, const std::string& location);

// Returns the location of EngineHost's own repository; empty if it is not used or a user listed it.
std::string own_repository(const Settings& settings);

// Returns the location of the repository of builds that were derived on this machine; empty: there is no
// state folder. Only requests with --from-index use it.
std::string derived_repository(const Settings& settings);

// Checks a build from a bundle where the policy lists or locks the repositories. The build counts as one of
// the repository that it comes from (`repository`; empty: it names none). It passes if that repository is
// allowed and nothing makes its origin doubtful (`doubt`, "no trusted key signed it"; empty: no doubt).
Result<void> check_origin(const Settings& settings, const std::string& build, const std::string& repository,
                          const std::string& doubt);

// The failure for unsigned content where the policy requires signatures of all (require_signatures) or of
// every repository (unsigned_repositories is false).
Diagnosis unsigned_refused(const Policy& policy, const std::string& what);

// Checks the URL's host of every request and every redirection; a proxy on the way is not checked.
Result<void> check_host(const Policy& policy, std::string_view url);

// Returns the range of `policy.versions` that excludes the version of the engine; nullptr: none does.
const std::string* excluding_range(const Policy& policy, const std::string& engine, std::string_view version);

// The failure for a license that nobody on this machine may accept by any way. `id`: an SPDX id, or an
// expression that names one.
std::optional<Diagnosis> forbidden_license(const Policy& policy, const std::string& id);

// The failure for a license that is not accepted, where only the administrator may accept (policy.locked
// names accept_licenses).
std::optional<Diagnosis> consent_locked(const Policy& policy, const std::string& id);

// Returns whether the administrator accepted the license for everyone; `sha256`: the manifest's digest of the
// text, or empty. An entry without a digest counts only with `is_verified`: anybody may write a license's
// id into an unsigned manifest (consent::is_manifest_verified).
bool accepts_license(const Policy& policy, const std::string& id, const std::string& sha256,
                     bool is_verified);

// The failure for a build that would use `library`, which the program had loaded, where
// policy.loaded_libraries is false; nothing where it is true.
std::optional<Diagnosis> forbidden_loaded(const Policy& policy, const std::string& library,
                                          const std::string& build);

// The failure for an update where policy.updates is false, or where the setting "update" is locked to
// "never".
std::optional<Diagnosis> forbidden_update(const Settings& settings, const std::string& engine);

// The failure for builds that this machine would derive from the package index (--from-index), where
// policy.from_index is false, or where a rule about repositories excludes the folder that lists them.
std::optional<Diagnosis> forbidden_from_index(const Settings& settings);

// Checks a value that a request carries besides the settings (a flavor, a device) against a locked key.
// `value` empty: not requested. Error: EH-P01 when it differs from the locked value.
Result<void> check_locked(const Settings& settings, const std::string& key, const std::string& value);

}  // namespace enginehost::settings
