#include "host/commands/cache_trust.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/catalog/repositories.hpp"
#include "host/commands/build_names.hpp"
#include "host/commands/common.hpp"
#include "host/commands/given_key.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/trust/root.hpp"
#include "host/manifest/trust/trust_store.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

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
void note(const settings::Settings& settings, std::string_view event, const Json& facts, bool json) {
  open::OpenContext context(settings);
  context.note(event, facts);
  print_warnings(context.warnings(), {}, json);
}

int add(const settings::Settings& settings, const TrustFlags& flags, bool json) {
  const manifest::TrustStore store = catalog::trust_store(settings);
  const auto key = given_public_key(flags.key);
  if (!key) return end_with(key.error(), json);
  std::vector<std::string> repositories;
  for (const settings::Repository& repository : settings.repositories)
    if (repository.by_caller) repositories.push_back(repository.location);
  const std::vector<std::string> warnings = folders_that_are_not_there(repositories);
  const bool for_all = repositories.empty();
  if (for_all && flags.threshold > 1)
    return end_with(diagnose("EH-P40")
                        .with("program", "engine-cache trust add")
                        .with("problem", "--threshold " + std::to_string(flags.threshold) +
                                             " counts the keys of one repository: add --repository LOCATION"),
                    json);
  if (for_all) repositories.emplace_back();
  for (const std::string& repository : repositories) {
    manifest::TrustedKey trusted;
    trusted.key = *key;
    trusted.repository = repository;
    trusted.added = manifest::text_of_time(open::OpenContext::now());
    trusted.engines = flags.engines;
    trusted.threshold = flags.threshold;
    if (const auto added = settings::mark_as_state(store.add(trusted), settings); !added)
      return end_with(added.error(), json);
  }
  note(settings, "trust_add",
       Json::object()
           .set("key_id", key->id)
           .set("repositories", Json::strings(for_all ? std::vector<std::string>{"*"} : repositories))
           .set("engines", Json::strings(flags.engines))
           .set("threshold", flags.threshold),
       json);
  print_warnings(warnings, {}, json);
  if (json)
    print(Json::object()
              .set("format", 1)
              .set("added", key->id)
              .set("repositories", Json::strings(for_all ? std::vector<std::string>{} : repositories))
              .set("engines", Json::strings(flags.engines))
              .set("threshold", flags.threshold)
              .set("warnings", Json::strings(warnings)));
  else
    say("%s is trusted for %s%s\n", key->id.c_str(),
        for_all ? "every repository" : join(repositories, ", ").c_str(),
        limits_of(flags.engines, flags.threshold).c_str());
  return 0;
}

int list(const settings::Settings& settings, bool json) {
  const manifest::TrustStore store = catalog::trust_store(settings);
  const auto keys = store.keys();
  if (!keys) return end_with(keys.error(), json);
  Json listed = Json::array(), repositories = Json::array();
  std::string text;
  for (const manifest::TrustedKey& key : *keys) {
    listed.push(to_json(key));
    text += key.key.id + "  " + (key.repository.empty() ? "every repository" : key.repository) +
            limits_of(key.engines, key.threshold) + (key.own ? "" : "  (" + path_text(key.file) + ")") + "\n";
  }
  for (const settings::Repository& repository : settings.repositories) {
    const auto seen = store.seen(repository.location);
    if (!seen) return end_with(seen.error(), json);
    if (seen->root.empty()) continue;
    repositories.push(Json::object()
                          .set("repository", repository.location)
                          .set("root", seen->root_version)
                          .set("index", seen->index_version));
    text += repository.location + "  signed: root " + std::to_string(seen->root_version) + ", index " +
            std::to_string(seen->index_version) + "\n";
  }
  const std::vector<std::string> warnings = store.unreadable();
  print_warnings(warnings, {}, json);
  if (json)
    print(Json::object()
              .set("format", 1)
              .set("keys", std::move(listed))
              .set("repositories", std::move(repositories))
              .set("warnings", Json::strings(warnings)));
  else
    say_text(text.empty() ? "no key is trusted\n" : text);
  return 0;
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

int remove(const settings::Settings& settings, const TrustFlags& flags, bool json) {
  const auto refuse = [&](std::string_view problem) {
    return end_with(diagnose("EH-M15")
                        .with("file", flags.key)
                        .with("problem", problem)
                        .with("remedy", "give one of the ids that engine-cache trust list shows"),
                    json);
  };
  const auto named = key_named(settings, to_upper(flags.key));
  if (!named) return end_with(named.error(), json);
  const std::string& id = *named;
  if (id.empty()) return refuse("a key id is 16 hexadecimal digits");
  const auto removed = settings::mark_as_state(catalog::trust_store(settings).remove(id), settings);
  if (!removed) return end_with(removed.error(), json);
  if (!*removed) return refuse("no key with this id was added here");
  note(settings, "trust_remove", Json::object().set("key_id", id), json);
  if (json)
    print(Json::object().set("format", 1).set("removed", id));
  else
    say("%s is no longer trusted\n", id.c_str());
  return 0;
}

int forget(const settings::Settings& settings, const TrustFlags& flags, bool json) {
  std::error_code error;
  const std::string repository =
      plain_location(is_url(flags.repository) ? flags.repository
                                              : path_text(fs::absolute(path_of(flags.repository), error)));
  const auto forgotten = settings::mark_as_state(catalog::trust_store(settings).forget(repository), settings);
  if (!forgotten) return end_with(forgotten.error(), json);
  const std::string shown = without_passwords(repository);
  if (*forgotten) note(settings, "trust_forget", Json::object().set("repository", shown), json);
  if (json)
    print(Json::object().set("format", 1).set("repository", shown).set("forgotten", *forgotten));
  else
    say("%s %s\n", printable_line(shown).c_str(),
        *forgotten
            ? "is new to this machine now: its versions and blocks are forgotten, its keys stay trusted"
            : "was not known: nothing is stored about it");
  return 0;
}

}  // namespace

CLI::App* add_trust(CLI::App& app, TrustFlags& flags) {
  CLI::App* trust = app.add_subcommand("trust", "show and choose whose signatures of repositories count");
  trust->require_subcommand(1);
  trust->fallthrough();
  flags.add =
      trust->add_subcommand("add", "trust a publisher's key; with --repository only for that repository");
  flags.add->fallthrough();
  flags.add->add_option("FILE|KEY", flags.key, "a file with a minisign public key, or the key itself")
      ->required();
  flags.add
      ->add_option("--engines", flags.engines,
                   "let its repositories offer only these engines, separated by commas")
      ->delimiter(',')
      ->type_name("NAME");
  flags.add
      ->add_option(
          "--threshold", flags.threshold,
          "with --repository: how many of its keys that are trusted here must have signed its first root")
      ->check(CLI::Range(1, static_cast<int>(manifest::most_root_keys)))
      ->type_name("N");
  flags.list = trust->add_subcommand("list", "list the trusted keys and the state of signed repositories");
  flags.list->fallthrough();
  flags.remove = trust->add_subcommand("remove", "stop trusting a key");
  flags.remove->fallthrough();
  flags.remove->add_option("KEYID", flags.key, "a key id of trust list, or a unique beginning of it")
      ->required();
  flags.forget = trust->add_subcommand(
      "forget", "forget the versions of a repository, for instance after its publisher lost a key");
  flags.forget->fallthrough();
  flags.forget->add_option("LOCATION", flags.repository, "the URL or folder of the repository")->required();
  return trust;
}

int run_trust(const settings::Settings& settings, const TrustFlags& flags, bool json) {
  if (flags.add->parsed()) return add(settings, flags, json);
  if (flags.remove->parsed()) return remove(settings, flags, json);
  if (flags.forget->parsed()) return forget(settings, flags, json);
  return list(settings, json);
}

}  // namespace enginehost::commands
