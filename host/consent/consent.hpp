// Licenses of a download: which of them are accepted already, by what, and their texts.
//
// Thread safety: any thread.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/manifest/catalog.hpp"
#include "host/settings/consents.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::consent {

settings::LicenseTerms terms_of(const manifest::License& license);

// Returns whether somebody whom this machine trusts says under which license the files are: a key that is
// trusted for the manifest's engine, or EngineHost's own repository.
bool is_manifest_verified(const settings::Settings& settings, const std::string& repository,
                          const std::vector<std::string>& signed_by);

// The licenses of a download by the settings and this user's consents.
struct Standing {
  std::vector<acquire::LicenseQuestion> to_ask;  // still have to be accepted
  // Accepted by policy or by a flag, which is not on record yet.
  std::vector<std::pair<settings::LicenseTerms, settings::ConsentWay>> to_record;
};

// Reads the consents and records nothing. Errors: EH-P01 as licenses_to_ask(); EH-F23 if the consents cannot
// be read.
Result<Standing> standing_of(const settings::Settings& settings, const acquire::Question& question);

// Returns the licenses that still have to be accepted. Leaves out licenses that need no acceptance, that
// policy accepts for everyone, that a flag or the API accepts by its id (unless this user accepted another
// text under that id), and that this user accepted before in the exact text that the manifest names.
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

// Returns EH-P03 with "build", "license", "url", "component", "part" (part_of_download), "sha256" and
// "accepted_before" (another text under the same id was accepted then).
Diagnosis consent_missing(const acquire::Question& question, const acquire::LicenseQuestion& license);

// The texts of licenses are kept in the cache by their digest: <cache>/blobs/sha256/<digest>. Returns the
// text from the writable cache or a layer, if it is there and has that digest.
std::optional<std::string> kept_text(const cache::Store& store, const std::string& sha256);

// Returns the file that kept_text() reads, or that keep_text() would write.
std::filesystem::path text_file(const cache::Store& store, const std::string& sha256);

// Keeps a text and returns its digest. EH-F15, EH-F16.
Result<std::string> keep_text(const cache::Store& store, const std::string& text);

// Returns the text of a license, at most 4 MiB. Takes the kept text first, then the component file that the
// manifest names (extracted alone from its archive), then the license's URL. Keeps a text that it fetched.
// `build` is a build that the license covers; null: components are not searched.
//
// Errors: EH-N08 ("url", "expected_sha256", "actual_sha256") if the text is not the one that the manifest
// names, or contains a NUL ("nul"), behind which programs show nothing. EH-N10 offline. EH-P06 ("license") if
// the manifest names neither file nor URL. Otherwise those of acquire::file_of_component and
// transfer::fetch_text.
Result<std::string> license_text(const cache::Store& store, const manifest::License& license,
                                 const manifest::Build* build, const transfer::TransferOptions& transfer,
                                 const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::consent
