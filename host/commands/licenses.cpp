// engine-cache licenses: the licenses that cover the engines, their texts, and who accepted them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/consent/consent.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

struct LicenseFlags {
  std::string id, text;
  // Keys of manifests count, too. Not to accept: their publishers choose them.
  bool takes_keys = false;
};

// One text and all manifests that name it.
struct Listed {
  manifest::License license;
  std::shared_ptr<const manifest::Build> build;  // the first build that it covers
  std::set<std::string> names, builds;           // keys in the manifests; ids of the covered builds
  std::map<std::string, std::uint64_t> engines;  // the number of covered builds of each
  bool is_verified = true;                       // all of these manifests are (consent::is_manifest_verified)
};

std::vector<Listed> licenses_of(const settings::Settings& settings, const manifest::Catalog& catalog) {
  std::vector<Listed> listed;
  for (const auto& build : catalog.builds) {
    const auto owner = build->manifest.lock();
    if (!owner) continue;
    for (const manifest::Component* component : build->all_components()) {
      const auto found = owner->licenses.find(component->license);
      if (found == owner->licenses.end()) continue;
      const manifest::License& license = found->second;
      auto same = std::find_if(listed.begin(), listed.end(), [&](const Listed& one) {
        return one.license.id == license.id && one.license.sha256 == license.sha256 &&
               one.license.url == license.url;
      });
      if (same == listed.end()) same = listed.insert(listed.end(), Listed{license, build, {}, {}, {}, true});
      same->names.insert(component->license);
      if (same->builds.insert(build->id).second) ++same->engines[build->engine];
      same->license.explicit_consent = same->license.explicit_consent || license.explicit_consent;
      same->is_verified =
          same->is_verified && consent::is_manifest_verified(settings, owner->repository, owner->signed_by);
    }
  }
  return listed;
}

std::string state_of(const settings::Settings& settings, const Listed& listed,
                     const settings::Consent* mine) {
  const manifest::License& license = listed.license;
  if (settings::forbidden_license(settings.policy, license.id)) return "forbidden";
  if (!license.explicit_consent) return "not_needed";
  return mine != nullptr ||
                 settings::accepts_license(settings.policy, license.id, license.sha256, listed.is_verified)
             ? "accepted"
             : "not_accepted";
}

std::string sentence(const settings::Settings& settings, const std::string& state,
                     const settings::Consent* mine, const settings::Consent* anyone) {
  const auto by = [](const settings::Consent& consent) {
    return (consent.user.empty() ? "user " + std::to_string(consent.uid) : consent.user) + " on " +
           consent.time + " (" + consent.how + ", " + consent.application + ")";
  };
  if (state == "forbidden") return "forbidden by the policy of " + settings.policy.file;
  if (state == "not_needed") return "needs no acceptance";
  if (mine != nullptr) return "accepted by " + by(*mine);
  if (state == "accepted") return "accepted for everyone by the policy of " + settings.policy.file;
  return anyone != nullptr ? "not accepted by you; accepted by " + by(*anyone) : "not accepted";
}

std::string covered(const std::map<std::string, std::uint64_t>& engines) {
  std::vector<std::string> texts;
  for (const auto& [engine, builds] : engines)
    texts.push_back(engine + " (" + pluralize(builds, "build", "builds") + ")");
  return join(texts, ", ");
}

Result<Json> list_licenses(open::OpenContext& context, const CacheRun& run) {
  TRY_ASSIGN(const settings::Consents consents,
             settings::Consents::read(context.settings().state_folder, context.settings().read_state_folder));
  std::set<std::string> installed;
  std::vector<Diagnosis> unread;
  for (const cache::Installed& build : context.store().list(&unread)) installed.insert(build.build);
  if (!unread.empty()) return fail(std::move(unread.front()));
  const std::uint64_t uid = settings::User::of_this_process().uid;
  Json licenses = Json::array(), records = Json::array();
  for (const Listed& listed : licenses_of(context.settings(), context.catalog())) {
    const manifest::License& license = listed.license;
    const settings::LicenseTerms terms = consent::terms_of(license);
    const settings::Consent* mine = consents.find(terms, uid);
    const settings::Consent* anyone = mine != nullptr ? mine : consents.find(terms);
    const std::string state = state_of(context.settings(), listed, mine);
    std::vector<std::string> used;
    std::set_intersection(listed.builds.begin(), listed.builds.end(), installed.begin(), installed.end(),
                          std::back_inserter(used));
    // If no manifest pins the text, the accepted one is shown.
    const std::string digest = !license.sha256.empty() ? license.sha256
                               : anyone != nullptr     ? anyone->terms.sha256
                                                       : "";
    const bool kept = consent::kept_text(context.store(), digest).has_value();
    const std::string file = kept ? path_text(consent::text_file(context.store(), digest)) : "";
    licenses.push(Json::object()
                      .set("license", license.id)
                      .set("names", Json::strings({listed.names.begin(), listed.names.end()}))
                      .set("url", license.url)
                      .set("text_sha256", license.sha256)
                      .set("text", kept ? Json(file) : Json())
                      .set("accept", license.explicit_consent ? "explicit" : "implicit")
                      .set("redistribute", license.redistribute)
                      .set("state", state)
                      .set("consent", anyone != nullptr ? settings::to_json(*anyone) : Json())
                      .set("builds", Json::strings({listed.builds.begin(), listed.builds.end()}))
                      .set("installed", Json::strings(used)));
    if (!run.prints_text()) continue;
    say("%s  %s\n", printable_line(license.id).c_str(),
        sentence(context.settings(), state, mine, anyone).c_str());
    if (kept || !license.url.empty())
      say("  text       %s\n", kept ? file.c_str() : printable_line(license.url).c_str());
    say("  covers     %s\n", covered(listed.engines).c_str());
    if (!used.empty()) say("  installed  %s\n", join(used, " ").c_str());
  }
  if (run.prints_text() && licenses.as_array().empty()) say("no known engine build names a license\n");
  for (const settings::Consent& consent : consents.all()) records.push(settings::to_json(consent));
  return Json::object()
      .set("format", 1)
      .set("licenses", std::move(licenses))
      .set("consents", std::move(records))
      .set("unreadable_consents", consents.unreadable());
}

// Returns the ids of the licenses, and with `takes_keys` their keys in manifests.
std::vector<std::string> ids_of(const std::vector<Listed>& known, bool takes_keys) {
  std::vector<std::string> ids;
  for (const Listed& listed : known) {
    ids.push_back(listed.license.id);
    if (takes_keys) ids.insert(ids.end(), listed.names.begin(), listed.names.end());
  }
  return ids;
}

Diagnosis unknown(const std::string& id, const std::vector<Listed>& known) {
  Diagnosis diagnosis = diagnose(Code::license_unknown).with(Key::license, id);
  std::vector<std::string> ids;
  for (const Listed& listed : known) ids.push_back(listed.license.id);
  if (const auto meant = nearest(id, ids)) diagnosis.with(Key::nearest, *meant);
  return diagnosis;
}

// Returns those of `known` that were named; if a text was given, only those with that text.
Result<std::vector<Listed>> meant_by(const LicenseFlags& flags, const std::vector<Listed>& known,
                                     const std::string& text_sha256) {
  std::vector<Listed> meant;
  const Listed* other = nullptr;
  for (const Listed& listed : known) {
    const bool is_key = flags.takes_keys && listed.names.contains(flags.id);
    if (listed.license.id != flags.id && !is_key) continue;
    if (text_sha256.empty() || listed.license.sha256.empty() || listed.license.sha256 == text_sha256)
      meant.push_back(listed);
    else
      other = &listed;
  }
  if (!meant.empty()) return meant;
  if (other == nullptr) return fail(unknown(flags.id, known));
  return fail(diagnose(Code::license_text_differs)
                  .with(Key::license, other->license.id)
                  .with(Key::file, flags.text)
                  .with(Key::expected_sha256, other->license.sha256, "manifest")
                  .with(Key::actual_sha256, text_sha256));
}

Listed of_text(const std::string& id, const std::string& sha256) {
  Listed listed;
  listed.license.id = id;
  listed.license.sha256 = sha256;
  listed.license.explicit_consent = true;
  return listed;
}

// Completes the id, and returns the licenses that it means.
Result<std::vector<Listed>> licenses_named(open::OpenContext& context, LicenseFlags& flags,
                                           const std::string& given_sha256) {
  const std::vector<Listed> known = licenses_of(context.settings(), context.catalog());
  TRY_ASSIGN(flags.id, id_beginning_with(flags.id, ids_of(known, flags.takes_keys), "licenses"));
  auto meant = meant_by(flags, known, given_sha256);
  // A bundle's license must be accepted before any of its builds is known here. The text came with the
  // bundle.
  if (!meant && meant.error().code == Code::license_unknown &&
      consent::kept_text(context.store(), given_sha256))
    meant = std::vector<Listed>{of_text(flags.id, given_sha256)};
  // A repository that could not be read may name the license.
  if (!meant && meant.error().code == Code::license_unknown && !context.catalog().failures.empty())
    return fail(std::move(Diagnosis(context.catalog().failures.front())
                              .within("looking for the license " + printable_line(flags.id))));
  return meant;
}

// Prints the text of the license; of each, if builds name several texts under one id.
Result<Json> show_texts(open::OpenContext& context, const CacheRun& run, LicenseFlags flags) {
  flags.takes_keys = true;
  TRY_ASSIGN(const std::vector<Listed> licenses, licenses_named(context, flags, {}));
  Json texts = Json::array();
  for (const Listed& listed : licenses) {
    TRY_ASSIGN(const std::string text,
               consent::license_text(context.store(), listed.license, listed.build.get(),
                                     context.transfer_options(), context.cancel()));
    texts.push(Json::object()
                   .set("license", listed.license.id)
                   .set("text_sha256", sha256_hex(text))
                   .set("text", text));
    if (run.prints_text() && !show_in_pager(text, true)) say_text(text + "\n");
  }
  return Json::object().set("format", 1).set("licenses", std::move(texts));
}

Result<Json> accept_text(open::OpenContext& context, const CacheRun& run, LicenseFlags flags) {
  const settings::Settings& settings = context.settings();
  std::string given_sha256, given;
  if (!flags.text.empty()) {
    TRY_ASSIGN(given, read_file(path_of(flags.text), 4u << 20, Code::given_file_not_readable));
    given_sha256 = sha256_hex(given);
  }
  TRY_ASSIGN(const std::vector<Listed> licenses, licenses_named(context, flags, given_sha256));
  Json accepted = Json::array();
  for (const Listed& listed : licenses) {
    manifest::License license = listed.license;
    if (auto forbidden = settings::forbidden_license(settings.policy, license.id))
      return fail(std::move(*forbidden));
    if (auto locked = settings::consent_locked(settings.policy, license.id)) return fail(std::move(*locked));
    Result<std::string> text = given;
    if (given.empty())
      text = consent::license_text(context.store(), license, listed.build.get(), context.transfer_options(),
                                   context.cancel());
    // A wrong text ends the command. Without any text the person decides.
    if (!text && text.error().code == Code::fetched_content_wrong) return fail(std::move(text).error());
    if (text) {
      TRY_ASSIGN(license.sha256, consent::keep_text(context.store(), *text));
      if (run.prints_text() && !run.common.quiet && !show_in_pager(*text, true)) say_text(*text + "\n\n");
    } else if (!run.common.quiet) {
      say_aside("warning: the text of %s was not shown: %s\n", printable_line(license.id).c_str(),
                explain::one_line(text.error()).c_str());
    }
    const settings::LicenseTerms terms = consent::terms_of(license);
    TRY(consent::accept_license(settings, terms, settings::ConsentWay::command));
    accepted.push(settings::to_json(settings::Consent::now(terms, settings::ConsentWay::command)));
    if (run.prints_text())
      say("%s is accepted%s%s\n", printable_line(license.id).c_str(),
          license.sha256.empty() ? "" : ": the text with sha256 ", license.sha256.c_str());
  }
  return Json::object().set("format", 1).set("accepted", std::move(accepted));
}

// Calls the action with a context, and prints what the context warns of.
CacheSubcommand subcommand(CLI::App* parser,
                           std::function<Result<Json>(open::OpenContext&, const CacheRun&)> action) {
  return {parser,
          [action = std::move(action)](const CacheRun& run) {
            open::OpenContext context(run.settings, {}, run.cancel);
            auto document = action(context, run);
            if (document) run.warn(context.warnings());
            return document;
          },
          true};
}

}  // namespace

std::vector<CacheSubcommand> add_licenses(CLI::App& app) {
  CLI::App* licenses = app.add_subcommand("licenses", "list, show and accept the licenses of the engines");
  licenses->require_subcommand(1);
  CLI::App* listing = licenses->add_subcommand("list", "list every known license and who accepted it");
  CLI::App* showing = licenses->add_subcommand("show", "print the text of a license");
  CLI::App* accepting =
      licenses->add_subcommand("accept", "show the text of a license and record that you accept it");
  const auto flags = std::make_shared<LicenseFlags>();
  showing->add_option("ID", flags->id, "a license id, its key in the manifest, or a unique beginning of one")
      ->required();
  accepting->add_option("ID", flags->id, "a license id, or a unique beginning of one")->required();
  accepting->add_option("--text", flags->text, "a file with the text, if it cannot be fetched")
      ->type_name("FILE");
  return {subcommand(listing, list_licenses),
          subcommand(showing, [flags](open::OpenContext& context,
                                      const CacheRun& run) { return show_texts(context, run, *flags); }),
          subcommand(accepting, [flags](open::OpenContext& context, const CacheRun& run) {
            return accept_text(context, run, *flags);
          })};
}

}  // namespace enginehost::commands
