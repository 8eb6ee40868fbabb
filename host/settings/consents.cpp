#include "host/settings/consents.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::settings {
namespace {

std::filesystem::path file_in(const std::filesystem::path& state_folder) {
  return state_folder / "consents" / "consents.jsonl";
}

std::optional<Consent> consent_of(const std::string& line) {
  const auto document = parse_json(line, "consents.jsonl");
  if (!document || !(*document)["license"].is_string() || !(*document)["uid"].is_integer())
    return std::nullopt;
  Consent consent;
  consent.terms = {(*document)["license"].as_string(), (*document)["url"].as_string(),
                   (*document)["text_sha256"].as_string()};
  consent.user = (*document)["user"].as_string();
  consent.uid = static_cast<std::uint64_t>((*document)["uid"].as_integer());
  consent.host = (*document)["host"].as_string();
  consent.time = (*document)["time"].as_string();
  consent.how = (*document)["how"].as_string();
  consent.application = (*document)["application"].as_string();
  consent.tool = (*document)["tool"].as_string();
  return consent;
}

bool same_text(const LicenseTerms& asked, const LicenseTerms& given) {
  if (asked.id != given.id) return false;
  return asked.sha256.empty() ? asked.url == given.url : asked.sha256 == given.sha256;
}

}  // namespace

// The names are in the order of ConsentWay.
std::string_view name_of(ConsentWay way) {
  static constexpr std::string_view names[] = {"terminal", "flag", "policy", "api", "command"};
  return names[static_cast<std::size_t>(way)];
}

Consent Consent::now(LicenseTerms terms, ConsentWay way) {
  return {User::of_this_process(), std::move(terms), utc_now(), std::string(name_of(way)),
          "enginehost " ENGINEHOST_VERSION};
}

Json to_json(const Consent& consent) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return Json::object()
      .set("format", 1)
      .set("license", consent.terms.id)
      .set("text_sha256", text(consent.terms.sha256))
      .set("url", text(without_passwords(consent.terms.url)))
      .set("user", text(consent.user))
      .set("uid", consent.uid)
      .set("host", consent.host)
      .set("time", consent.time)
      .set("how", consent.how)
      .set("application", consent.application)
      .set("tool", consent.tool);
}

Result<Consents> Consents::read(const std::filesystem::path& state_folder,
                                const std::filesystem::path& also) {
  Consents consents;
  const auto add = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      if (auto consent = consent_of(line))
        consents.all_.push_back(std::move(*consent));
      else
        ++consents.unreadable_;
    }
  };
  // Read first because later records were written to the other folder.
  if (!also.empty())
    if (const auto lines = read_lines(file_in(also))) add(*lines);
  if (state_folder.empty()) return consents;
  TRY_ASSIGN(const std::vector<std::string> lines, read_lines(file_in(state_folder)));
  add(lines);
  return consents;
}

const Consent* Consents::find(const LicenseTerms& terms, std::optional<std::uint64_t> uid) const {
  const auto found = std::find_if(all_.rbegin(), all_.rend(), [&](const Consent& consent) {
    return (!uid || (consent.uid == *uid && consent.how != name_of(ConsentWay::policy))) &&
           same_text(terms, consent.terms);
  });
  return found != all_.rend() ? &*found : nullptr;
}

const Consent* Consents::find_other_text(const LicenseTerms& terms, std::uint64_t uid) const {
  const auto found = std::find_if(all_.rbegin(), all_.rend(), [&](const Consent& consent) {
    return consent.uid == uid && consent.how != name_of(ConsentWay::policy) && consent.terms.id == terms.id &&
           !consent.terms.sha256.empty() && !same_text(terms, consent.terms);
  });
  return found != all_.rend() ? &*found : nullptr;
}

Result<void> record_consent(const std::filesystem::path& state_folder, const Consent& consent) {
  return append_line(file_in(state_folder), to_json(consent).dump());
}

}  // namespace enginehost::settings
