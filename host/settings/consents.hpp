// Which licenses were accepted on this machine: which text, by whom, when and how.
//
//   <state>/consents/consents.jsonl   one record a line, never changed
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::settings {

// What is agreed to. Without a digest the URL stands for the text.
struct LicenseTerms {
  std::string id, url, sha256;
};

enum class ConsentWay { terminal, flag, policy, api, command };
std::string_view name_of(ConsentWay way);  // "terminal", …; command is engine-cache licenses accept

struct Consent {
  LicenseTerms terms;
  std::string user, host, time, how, application, tool;
  std::uint64_t uid = 0;

  // Of these terms, given now by whoever runs this process.
  static Consent now(LicenseTerms terms, ConsentWay way);
};

Json to_json(const Consent& consent);

// A list of consents; empty without a state folder. Const use from any thread.
class Consents {
 public:
  // A line that is no record (cut by a power cut) is left out and counted.
  // `also`: Settings::read_state_folder. What cannot be read there is none: whoever needs it is asked again.
  static Result<Consents> read(const std::filesystem::path& state_folder,
                               const std::filesystem::path& also = {});

  const std::vector<Consent>& all() const { return all_; }
  int unreadable() const { return unreadable_; }

  // The last acceptance of these terms by that user, or nullptr. Another text is another license: the digests
  // must be equal; where the manifest names none, the URLs. What a policy accepted lasts as long as the
  // policy: such records are history.
  const Consent* find(const LicenseTerms& terms, std::uint64_t uid) const;
  // The last of these terms by whomever.
  const Consent* find(const LicenseTerms& terms) const;

 private:
  std::vector<Consent> all_;
  int unreadable_ = 0;
};

// One line more. EH-F15, EH-F16, EH-F17. Any thread, any process.
Result<void> record_consent(const std::filesystem::path& state_folder, const Consent& consent);

}  // namespace enginehost::settings
