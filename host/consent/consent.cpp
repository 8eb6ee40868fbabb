#include "host/consent/consent.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "host/settings/audit.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"

namespace enginehost::consent {
namespace {

using settings::ConsentWay;

bool named(const std::vector<std::string>& ids, const acquire::LicenseQuestion& license) {
  return std::any_of(ids.begin(), ids.end(),
                     [&](const std::string& id) { return id == license.license.id || id == license.name; });
}

// Policy and flags accept the same at every download. One record for each text and user is enough.
bool is_recorded(const settings::Consents& consents, const settings::LicenseTerms& terms, std::uint64_t uid,
                 ConsentWay way) {
  return std::any_of(consents.all().begin(), consents.all().end(), [&](const settings::Consent& consent) {
    return consent.uid == uid && consent.how == settings::name_of(way) && consent.terms.id == terms.id &&
           consent.terms.sha256 == terms.sha256 && consent.terms.url == terms.url;
  });
}

}  // namespace

settings::LicenseTerms terms_of(const manifest::License& license) {
  return {license.id, license.url, license.sha256};
}

Result<std::vector<acquire::LicenseQuestion>> licenses_to_ask(const settings::Settings& settings,
                                                              const acquire::Question& question) {
  std::vector<acquire::LicenseQuestion> asked;
  std::optional<settings::Consents> consents;
  const std::uint64_t uid = settings::User::of_this_process().uid;
  for (const acquire::LicenseQuestion& license : question.licenses) {
    if (auto forbidden = settings::forbidden_license(settings.policy, license.license.id))
      return fail(std::move(forbidden->with("build", question.build)));
    if (!license.license.explicit_consent) continue;
    if (!consents) {
      TRY_ASSIGN(consents, settings::Consents::read(settings.state_folder, settings.read_state_folder));
    }
    const settings::LicenseTerms terms = terms_of(license.license);
    const bool by_policy = settings::accepts_license(settings.policy, terms.id, terms.sha256);
    if (by_policy || (consents->find(terms, uid) == nullptr && named(settings.accept_licenses, license))) {
      const ConsentWay way = by_policy                 ? ConsentWay::policy
                             : settings.by_application ? ConsentWay::api
                                                       : ConsentWay::flag;
      if (!is_recorded(*consents, terms, uid, way)) TRY(accept_license(settings, terms, way));
      continue;
    }
    if (auto locked = settings::consent_locked(settings.policy, terms.id))
      return fail(std::move(locked->with("build", question.build)));
    if (consents->find(terms, uid) == nullptr) asked.push_back(license);
  }
  return asked;
}

Result<void> accept_license(const settings::Settings& settings, const settings::LicenseTerms& terms,
                            ConsentWay way) {
  if (settings.state_folder.empty()) return {};
  TRY(settings::mark_as_state(
      settings::record_consent(settings.state_folder, settings::Consent::now(terms, way)), settings));
  Json facts = Json::object().set("license", terms.id).set("how", settings::name_of(way));
  if (!terms.sha256.empty()) facts.set("text_sha256", terms.sha256);
  return settings::mark_as_state(
      settings::AuditLog(settings.state_folder, settings.audit_rotate_bytes).add("consent", facts), settings);
}

std::optional<std::string> part_of_download(const acquire::Question& question,
                                            const acquire::LicenseQuestion& license) {
  if (license.components.size() == question.sources.size()) return {};
  return format_bytes(license.download) + " of " + (question.download_known ? "" : "at least ") +
         format_bytes(question.download);
}

Diagnosis consent_missing(const acquire::Question& question, const acquire::LicenseQuestion& license) {
  Diagnosis diagnosis = diagnose("EH-P03");
  if (const auto part = part_of_download(question, license)) diagnosis.with("part", *part);
  diagnosis.with("build", question.build)
      .with("license", license.license.id)
      .with("url", license.license.url)
      .with("component", join(license.components, ", "));
  if (!license.license.sha256.empty()) diagnosis.with("sha256", license.license.sha256, "manifest");
  return diagnosis;
}

}  // namespace enginehost::consent
