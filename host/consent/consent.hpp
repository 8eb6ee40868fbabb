// Licenses of a download: which of them are accepted already, and by what.
//
// Thread safety: any thread.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/acquire/acquire.hpp"
#include "host/settings/consents.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::consent {

settings::LicenseTerms terms_of(const manifest::License& license);

// Returns the licenses that still have to be accepted. Leaves out licenses that need no acceptance, that
// policy accepts for everyone, that a flag or the API accepts, and that this user accepted before in the
// exact text that the manifest names.
//
// Acceptance by policy or by a flag is recorded here, once for each text and user, before the first byte is
// fetched. EH-P01: policy forbids a license, or reserves acceptance for itself (policy.locked with
// accept_licenses). EH-F15, EH-F16, EH-F18: the acceptance cannot be recorded.
Result<std::vector<acquire::LicenseQuestion>> licenses_to_ask(const settings::Settings& settings,
                                                              const acquire::Question& question);

// Records an acceptance, and notes it in the audit log. Does nothing without a state folder.
Result<void> accept_license(const settings::Settings& settings, const settings::LicenseTerms& terms,
                            settings::ConsentWay way);

// Returns the part of the download that the license covers, "11 MiB of 130 MiB". Nothing if it covers all of
// it.
std::optional<std::string> part_of_download(const acquire::Question& question,
                                            const acquire::LicenseQuestion& license);

// Returns EH-P03 with "build", "license", "url", "component", "part" (part_of_download) and "sha256".
Diagnosis consent_missing(const acquire::Question& question, const acquire::LicenseQuestion& license);

}  // namespace enginehost::consent
