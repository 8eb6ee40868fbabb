#include "host/consent/consent.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/acquire.hpp"
#include "host/settings/audit.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::consent {
namespace {

using settings::ConsentWay;

// Returns whether a flag or the application accepts the license. The id holds for the text that it was
// accepted with: another one is asked about. The publisher chooses the license's key in the manifest, so a
// key never counts.
bool accepted_by_id(const settings::Settings& settings, const settings::Consents& consents,
                    const settings::LicenseTerms& terms, std::uint64_t uid) {
  return std::ranges::find(settings.accept_licenses, terms.id) != settings.accept_licenses.end() &&
         consents.find_other_text(terms, uid) == nullptr;
}

// A text of a component without its digest may be any text under the same name.
bool can_be_known(const manifest::License& license) {
  return !license.sha256.empty() || license.text_component.empty();
}

// Policy and flags accept the same at every download. One record for each text and user is enough.
bool is_recorded(const settings::Consents& consents, const settings::LicenseTerms& terms, std::uint64_t uid,
                 ConsentWay way) {
  return std::any_of(consents.all().begin(), consents.all().end(), [&](const settings::Consent& consent) {
    return consent.uid == uid && consent.how == settings::name_of(way) && consent.terms.id == terms.id &&
           consent.terms.sha256 == terms.sha256 && consent.terms.url == without_passwords(terms.url);
  });
}

}  // namespace

settings::LicenseTerms terms_of(const manifest::License& license) {
  return {license.id, license.url, license.sha256};
}

bool is_manifest_verified(const settings::Settings& settings, const std::string& repository,
                          const std::vector<std::string>& signed_by) {
  return !signed_by.empty() || (!repository.empty() && repository == settings::own_repository(settings));
}

Result<Standing> standing_of(const settings::Settings& settings, const acquire::Question& question) {
  Standing standing;
  std::optional<settings::Consents> consents;
  const std::uint64_t uid = settings::User::of_this_process().uid;
  for (const acquire::LicenseQuestion& license : question.licenses) {
    if (auto forbidden = settings::forbidden_license(settings.policy, license.license.id))
      return fail(std::move(forbidden->with(Key::build, question.build)));
    if (!license.license.explicit_consent) continue;
    if (!consents) {
      TRY_ASSIGN(consents, settings::Consents::read(settings.state_folder, settings.read_state_folder));
    }
    const settings::LicenseTerms terms = terms_of(license.license);
    const bool by_policy =
        settings::accepts_license(settings.policy, terms.id, terms.sha256,
                                  is_manifest_verified(settings, question.repository, question.signed_by));
    const bool by_user = can_be_known(license.license) && consents->find(terms, uid) != nullptr;
    if (by_policy || (!by_user && accepted_by_id(settings, *consents, terms, uid))) {
      const ConsentWay way = by_policy                 ? ConsentWay::policy
                             : settings.by_application ? ConsentWay::api
                                                       : ConsentWay::flag;
      if (!is_recorded(*consents, terms, uid, way)) standing.to_record.emplace_back(terms, way);
      continue;
    }
    if (auto locked = settings::consent_locked(settings.policy, terms.id))
      return fail(std::move(locked->with(Key::build, question.build)));
    if (by_user) continue;
    standing.to_ask.push_back(license);
    if (const settings::Consent* other = consents->find_other_text(terms, uid))
      standing.to_ask.back().accepted_before = other->time;
  }
  return standing;
}

Result<std::vector<acquire::LicenseQuestion>> licenses_to_ask(const settings::Settings& settings,
                                                              const acquire::Question& question) {
  TRY_ASSIGN(Standing standing, standing_of(settings, question));
  for (const auto& [terms, way] : standing.to_record) TRY(accept_license(settings, terms, way));
  return std::move(standing.to_ask);
}

Result<void> accept_license(const settings::Settings& settings, const settings::LicenseTerms& terms,
                            ConsentWay way) {
  if (settings.state_folder.empty()) return {};
  TRY(settings::mark_as_state(
      settings::record_consent(settings.state_folder, settings::Consent::now(terms, way)), settings));
  Json facts = Json::object().set("license", terms.id).set("how", settings::name_of(way));
  if (!terms.sha256.empty()) facts.set("text_sha256", terms.sha256);
  return settings::mark_as_state(
      settings::add_event(settings.state_folder, settings.audit_rotate_bytes, "consent", facts), settings);
}

std::optional<std::string> part_of_download(const acquire::Question& question,
                                            const acquire::LicenseQuestion& license) {
  if (license.components.size() == question.sources.size()) return {};
  return format_bytes(license.download) + " of " + (question.download_known ? "" : "at least ") +
         format_bytes(question.download);
}

Diagnosis consent_missing(const acquire::Question& question, const acquire::LicenseQuestion& license) {
  Diagnosis diagnosis = diagnose(Code::consent_missing);
  if (const auto part = part_of_download(question, license)) diagnosis.with(Key::part, *part);
  diagnosis.with(Key::build, question.build)
      .with(Key::license, license.license.id)
      .with(Key::url, license.license.url)
      .with(Key::component, join(license.components, ", "));
  if (!license.license.sha256.empty()) diagnosis.with(Key::sha256, license.license.sha256, "manifest");
  if (!license.accepted_before.empty()) diagnosis.with(Key::accepted_before, license.accepted_before);
  return diagnosis;
}

namespace {

constexpr std::uint64_t longest_text = 4u << 20;

std::filesystem::path place_in(const std::filesystem::path& root, const std::string& sha256) {
  return root / "blobs" / "sha256" / sha256;
}

Result<std::string> checked_and_kept(const cache::Store& store, const manifest::License& license,
                                     std::string text, const std::string& from) {
  const std::string actual = sha256_hex(text);
  if (text.find('\0') != std::string::npos)
    return fail(diagnose(Code::fetched_content_wrong)
                    .with(Key::url, from)
                    .with(Key::license, license.id)
                    .with(Key::nul, "yes"));
  if (!license.sha256.empty() && actual != license.sha256)
    return fail(diagnose(Code::fetched_content_wrong)
                    .with(Key::url, from)
                    .with(Key::license, license.id)
                    .with(Key::expected_sha256, license.sha256, "manifest")
                    .with(Key::actual_sha256, actual));
  TRY(keep_text(store, text).map([](const std::string&) {}));
  return text;
}

Result<std::string> text_in_component(const cache::Store& store, const manifest::License& license,
                                      const manifest::Build* build, const transfer::TransferOptions& transfer,
                                      const std::optional<CancelToken>& cancel) {
  const auto owner = build != nullptr ? build->manifest.lock() : nullptr;
  if (!owner || license.text_component.empty())
    return fail(diagnose(Code::license_text_missing).with(Key::license, license.id));
  const auto found = owner->components.find(license.text_component);
  if (found == owner->components.end())
    return fail(diagnose(Code::license_text_missing).with(Key::license, license.id));
  acquire::AcquireOptions options;
  options.transfer = transfer;
  cache::WaitOptions wait;
  wait.cancel = cancel;
  TRY_ASSIGN(const cache::Stage stage, store.stage("license-text-" + license.text_component, wait));
  TRY_ASSIGN(std::string text, acquire::file_of_component(*build, found->second, license.text_path,
                                                          stage.folder() / "file", options, cancel));
  return checked_and_kept(store, license, std::move(text), license.text_component + ": " + license.text_path);
}

}  // namespace

std::filesystem::path text_file(const cache::Store& store, const std::string& sha256) {
  std::error_code error;
  for (const std::filesystem::path& layer : store.layers())
    if (std::filesystem::exists(place_in(layer, sha256), error)) return place_in(layer, sha256);
  return place_in(store.root(), sha256);
}

std::optional<std::string> kept_text(const cache::Store& store, const std::string& sha256) {
  if (!is_sha256_hex(sha256) || text_file(store, sha256).is_relative()) return std::nullopt;
  auto text = read_file(text_file(store, sha256), longest_text);
  if (!text || sha256_hex(*text) != sha256 || text->find('\0') != std::string::npos) return std::nullopt;
  return std::move(*text);
}

Result<std::string> keep_text(const cache::Store& store, const std::string& text) {
  std::string sha256 = sha256_hex(text);
  if (store.root().empty()) return sha256;  // no cache: nothing can be kept
  const std::filesystem::path file = place_in(store.root(), sha256);
  TRY(make_folders(file.parent_path()));
  TRY(write_file(file, text));
  return sha256;
}

Result<std::string> license_text(const cache::Store& store, const manifest::License& license,
                                 const manifest::Build* build, const transfer::TransferOptions& transfer,
                                 const std::optional<CancelToken>& cancel) {
  if (auto kept = kept_text(store, license.sha256)) return std::move(*kept);
  auto in_component = text_in_component(store, license, build, transfer, cancel);
  if (in_component) return in_component;
  if (license.url.empty()) return in_component;
  TRY_ASSIGN(std::string text,
             transfer::fetch_text(license.url, transfer, longest_text, "text/plain, */*", cancel));
  return checked_and_kept(store, license, std::move(text), without_passwords(license.url));
}

}  // namespace enginehost::consent
