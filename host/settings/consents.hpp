// The licenses that were accepted on this machine: which text, by whom, when and how.
//
//   <state>/consents/consents.jsonl   one record per line, never changed
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/settings/records.hpp"

namespace enginehost::settings {

// The terms of a license. Without a digest the URL identifies the text.
struct LicenseTerms {
  std::string id, url, sha256;
};

enum class ConsentWay { terminal, flag, policy, api, command };
std::string_view name_of(ConsentWay way);  // "terminal", …; command is engine-cache licenses accept

struct Consent : User {
  LicenseTerms terms;
  std::string time, how, tool;

  // A consent to these terms, given now by the user of this process.
  static Consent now(LicenseTerms terms, ConsentWay way);
};

Json to_json(const Consent& consent);

// A list of consents; empty without a state folder. Thread safety: const functions may be called from any
// thread.
class Consents {
 public:
  // Skips and counts lines that are no record (cut by a power failure). `also`: Settings::read_state_folder.
  // Consents there that cannot be read do not count, so their users are asked again.
  static Result<Consents> read(const std::filesystem::path& state_folder,
                               const std::filesystem::path& also = {});

  const std::vector<Consent>& all() const { return all_; }
  int unreadable() const { return unreadable_; }

  // Returns the user's last acceptance of these terms, or nullptr. Without `uid` that of any user. Another
  // text is another license: the digests must be equal, or the URLs where the manifest has no digest. Records
  // hold URLs without a query, so such a URL is never found without a digest. Acceptances by policy are valid
  // only as long as the policy; their records are history, which only the search without `uid` finds.
  const Consent* find(const LicenseTerms& terms, std::optional<std::uint64_t> uid = std::nullopt) const;

  // Returns the user's last acceptance of another text, by its digest, under the same id; or nullptr.
  const Consent* find_other_text(const LicenseTerms& terms, std::uint64_t uid) const;

 private:
  std::vector<Consent> all_;
  int unreadable_ = 0;
};

// Adds one line. Errors: EH-F15, EH-F16, EH-F17. Any thread, any process.
Result<void> record_consent(const std::filesystem::path& state_folder, const Consent& consent);

}  // namespace enginehost::settings
