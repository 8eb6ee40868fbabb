// Which licenses of a download are agreed to already, and how that was said.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/acquire/acquire.hpp"
#include "host/settings/consents.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {

settings::LicenseTerms terms_of(const manifest::License& license);

// The licenses that somebody still has to accept: not those that ask for nothing, that policy accepts for
// everyone, that this user accepted before in the very text the manifest names, or that a flag or the API
// accepts. What policy or a flag accepts is recorded here (once for each text and user), before a byte of
// it is fetched. EH-P01: policy forbids one, or leaves accepting to itself (policy.locked with
// accept_licenses); EH-F15, EH-F16, EH-F18: what was agreed to cannot be recorded. Any thread.
Result<std::vector<acquire::LicenseQuestion>> licenses_to_ask(const settings::Settings& settings,
                                                              const acquire::Question& question);

// Records an acceptance, and notes it in the audit log. Nothing without a state folder.
Result<void> accept_license(const settings::Settings& settings, const settings::LicenseTerms& terms,
                            settings::ConsentWay way);

// EH-P03 with "build", "license", "url", "component" and "sha256".
Diagnosis consent_missing(const std::string& build, const acquire::LicenseQuestion& license);

}  // namespace enginehost::open
