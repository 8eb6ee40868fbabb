// engine-cache trust: the keys whose signatures of repositories count.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/catalog/repositories.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/root.hpp"
#include "host/manifest/trust/trust_store.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

struct TrustFlags {
  std::string key;         // a file, the key itself, or for remove a key id
  std::string repository;  // for forget
  std::vector<std::string> engines;
  std::int64_t threshold = 1;
};

// Returns a warning for each missing folder. It may be on a disk that is not mounted, or a URL without
// https://.
std::vector<std::string> folders_that_are_not_there(const std::vector<std::string>& repositories) {
  std::vector<std::string> warnings;
  std::error_code error;
  for (const std::string& location : repositories)
    if (!is_url(location) && !fs::exists(path_of(location), error))
      warnings.push_back("there is no folder " + location +
                         ": the key counts once a repository is there; a URL "
                         "begins with https:// or http://");
  return warnings;
}

Json to_json(const manifest::TrustedKey& key) {
  Json document = Json::object().set("key_id", key.key.id).set("public", key.key.text());
  document.set("repository", key.repository.empty() ? Json() : Json(key.repository));
  document.set("engines", Json::strings(key.engines)).set("threshold", key.threshold);
  return document.set("added", key.added).set("file", path_text(key.file)).set("own", key.own);
}

// Returns what limits the key: " (only toy; 2 keys must sign the first root)".
std::string limits_of(const std::vector<std::string>& engines, std::int64_t threshold) {
  std::vector<std::string> limits;
  if (!engines.empty()) limits.push_back("only " + join(engines, ", "));
  if (threshold > 1) limits.push_back(std::to_string(threshold) + " keys must sign the first root");
  return limits.empty() ? "" : " (" + join(limits, "; ") + ")";
}

// Notes an event in the audit log, or warns that this failed.
void note(const CacheRun& run, std::string_view event, const Json& facts) {
  open::OpenContext context(run.settings);
  context.note(event, facts);
  run.warn(context.warnings());
}

Result<Json> add_key(const CacheRun& run, const TrustFlags& flags) {
  const settings::Settings& settings = run.settings;
  const manifest::TrustStore store = catalog::trust_store(settings);
  TRY_ASSIGN(const manifest::PublicKey key, given_public_key(flags.key));
  std::vector<std::string> repositories;
  for (const settings::Repository& repository : settings.repositories)
    if (repository.by_caller) repositories.push_back(repository.location);
  const std::vector<std::string> warnings = folders_that_are_not_there(repositories);
  const bool for_all = repositories.empty();
  if (for_all && flags.threshold > 1)
    return fail(wrong_usage("engine-cache trust add",
                            "--threshold " + std::to_string(flags.threshold) +
                                " counts the keys of one repository: add --repository LOCATION"));
  if (for_all) repositories.emplace_back();
  for (const std::string& repository : repositories) {
    manifest::TrustedKey trusted;
    trusted.key = key;
    trusted.repository = repository;
    trusted.added = text_of_time(open::OpenContext::now());
    trusted.engines = flags.engines;
    trusted.threshold = flags.threshold;
    TRY(settings::mark_as_state(store.add(trusted), settings));
  }
  note(run, "trust_add",
       Json::object()
           .set("key_id", key.id)
           .set("repositories", Json::strings(for_all ? std::vector<std::string>{"*"} : repositories))
           .set("engines", Json::strings(flags.engines))
           .set("threshold", flags.threshold));
  run.warn(warnings);
  if (run.prints_text())
    say("%s is trusted for %s%s\n", key.id.c_str(),
        for_all ? "every repository" : join(repositories, ", ").c_str(),
        limits_of(flags.engines, flags.threshold).c_str());
  return Json::object()
      .set("format", 1)
      .set("added", key.id)
      .set("repositories", Json::strings(for_all ? std::vector<std::string>{} : repositories))
      .set("engines", Json::strings(flags.engines))
      .set("threshold", flags.threshold)
      .set("warnings", Json::strings(warnings));
}

Result<Json> list_keys(const CacheRun& run) {
  const manifest::TrustStore store = catalog::trust_store(run.settings);
  TRY_ASSIGN(const std::vector<manifest::TrustedKey> keys, store.keys());
  Json listed = Json::array(), repositories = Json::array();
  std::string text;
  for (const manifest::TrustedKey& key : keys) {
    listed.push(to_json(key));
    text += key.key.id + "  " + (key.repository.empty() ? "every repository" : key.repository) +
            limits_of(key.engines, key.threshold) + (key.own ? "" : "  (" + path_text(key.file) + ")") + "\n";
  }
  for (const settings::Repository& repository : run.settings.repositories) {
    TRY_ASSIGN(const auto seen, store.seen(repository.location));
    if (seen.root.empty()) continue;
    repositories.push(Json::object()
                          .set("repository", repository.location)
                          .set("root", seen.root_version)
                          .set("index", seen.index_version));
    text += repository.location + "  signed: root " + std::to_string(seen.root_version) + ", index " +
            std::to_string(seen.index_version) + "\n";
  }
  const std::vector<std::string> warnings = store.unreadable();
  run.warn(warnings);
  if (run.prints_text()) say_text(text.empty() ? "no key is trusted\n" : text);
  return Json::object()
      .set("format", 1)
      .set("keys", std::move(listed))
      .set("repositories", std::move(repositories))
      .set("warnings", Json::strings(warnings));
}

std::string to_upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// Returns the id of the trusted key that was named: as minisign prints it, without leading zeros, or by a
// unique beginning. Empty if it is no key id.
Result<std::string> key_named(const settings::Settings& settings, const std::string& given) {
  std::string whole = manifest::full_key_id(given);
  std::vector<std::string> ids;
  if (const auto keys = catalog::trust_store(settings).keys())
    for (const manifest::TrustedKey& key : *keys) ids.push_back(key.key.id);
  if (whole.empty() || std::find(ids.begin(), ids.end(), whole) != ids.end()) return whole;
  TRY_ASSIGN(std::string id, id_beginning_with(given, ids, "keys"));
  return id == given ? whole : id;
}

Result<Json> remove_key(const CacheRun& run, const TrustFlags& flags) {
  const auto refused = [&](std::string_view problem) {
    return fail(diagnose(Code::key_file_unusable)
                    .with(Key::file, flags.key)
                    .with(Key::problem, problem)
                    .with(Key::remedy, "give one of the ids that engine-cache trust list shows"));
  };
  TRY_ASSIGN(const std::string id, key_named(run.settings, to_upper(flags.key)));
  if (id.empty()) return refused("a key id is 16 hexadecimal digits");
  TRY_ASSIGN(const bool removed,
             settings::mark_as_state(catalog::trust_store(run.settings).remove(id), run.settings));
  if (!removed) return refused("no key with this id was added here");
  note(run, "trust_remove", Json::object().set("key_id", id));
  if (run.prints_text()) say("%s is no longer trusted\n", id.c_str());
  return Json::object().set("format", 1).set("removed", id);
}

Result<Json> forget_repository(const CacheRun& run, const TrustFlags& flags) {
  std::error_code error;
  const std::string repository =
      plain_location(is_url(flags.repository) ? flags.repository
                                              : path_text(fs::absolute(path_of(flags.repository), error)));
  TRY_ASSIGN(const bool forgotten,
             settings::mark_as_state(catalog::trust_store(run.settings).forget(repository), run.settings));
  const std::string shown = without_passwords(repository);
  if (forgotten) note(run, "trust_forget", Json::object().set("repository", shown));
  if (run.prints_text())
    say("%s %s\n", printable_line(shown).c_str(),
        forgotten ? "is new to this machine now: its versions and blocks are forgotten, its keys stay trusted"
                  : "was not known: nothing is stored about it");
  return Json::object().set("format", 1).set("repository", shown).set("forgotten", forgotten);
}

}  // namespace

std::vector<CacheSubcommand> add_trust(CLI::App& app) {
  const auto flags = std::make_shared<TrustFlags>();
  CLI::App* trust = app.add_subcommand("trust", "show and choose whose signatures of repositories count");
  trust->require_subcommand(1);
  CLI::App* adding =
      trust->add_subcommand("add", "trust a publisher's key; with --repository only for that repository");
  adding->add_option("FILE|KEY", flags->key, "a file with a minisign public key, or the key itself")
      ->required();
  adding
      ->add_option("--engines", flags->engines,
                   "let its repositories offer only these engines, separated by commas")
      ->delimiter(',')
      ->type_name("NAME");
  adding
      ->add_option(
          "--threshold", flags->threshold,
          "with --repository: how many of its keys that are trusted here must have signed its first root")
      ->check(CLI::Range(1, static_cast<int>(manifest::most_root_keys)))
      ->type_name("N");
  CLI::App* listing =
      trust->add_subcommand("list", "list the trusted keys and the state of signed repositories");
  CLI::App* removing = trust->add_subcommand("remove", "stop trusting a key");
  removing->add_option("KEYID", flags->key, "a key id of trust list, or a unique beginning of it")
      ->required();
  CLI::App* forgetting = trust->add_subcommand(
      "forget", "forget the versions of a repository, for instance after its publisher lost a key");
  forgetting->add_option("LOCATION", flags->repository, "the URL or folder of the repository")->required();
  return {{adding, [flags](const CacheRun& run) { return add_key(run, *flags); }, true},
          {listing, list_keys, true},
          {removing, [flags](const CacheRun& run) { return remove_key(run, *flags); }, true},
          {forgetting, [flags](const CacheRun& run) { return forget_repository(run, *flags); }, true}};
}

}  // namespace enginehost::commands
