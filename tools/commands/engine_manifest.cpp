// engine-manifest: makes a signed repository from files (docs/publishing.md).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/common.hpp"
#include "host/commands/entry.hpp"
#include "host/commands/help.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/manifest/shapes.hpp"
#include "tools/commands/follow.hpp"
#include "tools/commands/passphrase.hpp"
#include "tools/publish/add.hpp"
#include "tools/publish/lint.hpp"
#include "tools/publish/publish.hpp"
#include "tools/publish/signing.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

struct ManifestFlags {
  bool json = false, quiet = false, verbose = false, offline = false;
  std::string folder, name, out;
  publish::AddRequest add;
  std::string file, plugin;
  std::vector<std::string> keys, add_keys, add_root_keys, add_index_keys, add_timestamp_keys;
  std::int64_t root_threshold = 0, index_threshold = 0, timestamp_hours = publish::usual_timestamp_hours;
  bool timestamp = false;
  int passphrase_fd = -1;
  publish::RootChange change;
};

// Files and folders of this command are arguments, never parts of the cache.
Diagnosis of_arguments(Diagnosis failure) {
  return area_of(failure.code) == Area::files ? explain::mark_as_argument(std::move(failure)) : failure;
}

// Reads the passphrase from the named descriptor, else from the terminal without echo.
Result<std::string> passphrase(const std::string& file, int descriptor) {
  if (descriptor >= 0) {
    auto line = read_line(descriptor);
    if (line) return std::move(*line);
    const int why = errno;
    return fail(
        diagnose(Code::key_file_unusable)
            .with(Key::file, file)
            .with(Key::problem, "it is encrypted, and its passphrase cannot be read from descriptor " +
                                    std::to_string(descriptor) + ": " +
                                    (why != 0 ? std::strerror(why) : "no line is left there"))
            .with(Key::remedy, "pass one line for each encrypted --key, in their order: " +
                                   std::string(descriptor == 0 ? "--passphrase-fd 0 < FILE"
                                                               : "--passphrase-fd N N< FILE")));
  }
  if (!is_terminal(standard_input))
    return fail(diagnose(Code::key_file_unusable)
                    .with(Key::file, file)
                    .with(Key::problem, "it is encrypted, and there is no terminal to ask for its passphrase")
                    .with(Key::remedy, "sign in a terminal, or pass the passphrase: --passphrase-fd N"));
  say_aside("passphrase of %s: ", file.c_str());
  std::fflush(stderr);
  std::string line = read_line_unseen();
  say_aside("\n");
  return line;
}

Result<std::vector<publish::SecretKey>> secret_keys(const ManifestFlags& flags) {
  std::vector<publish::SecretKey> keys;
  for (const std::string& file : flags.keys) {
    TRY_ASSIGN(const std::string text, read_file(given_path(file), 64u << 10, Code::key_file_unusable));
    TRY_ASSIGN(publish::SecretKey key, publish::read_secret_key(text, file, [&](const std::string& name) {
                 return passphrase(name, flags.passphrase_fd);
               }));
    keys.push_back(std::move(key));
  }
  return keys;
}

// For texts that people read or compare, such as a license id. Nobody sees a blank at the end.
bool is_one_line(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return is_utf8(text) && !text.starts_with(' ') && !text.ends_with(' ') &&
         std::none_of(text.begin(), text.end(), is_control);
}

Result<void> check_one_line(const char* command, const char* flag, const std::string& value) {
  if (is_one_line(value)) return {};
  return fail(wrong_usage(command, std::string(flag) + " \"" + value +
                                       "\" is not one line of UTF-8 text without blanks at its ends"));
}

Result<Json> init(const ManifestFlags& flags) {
  TRY(check_one_line("engine-manifest init", "--name", flags.name));
  TRY_ASSIGN(const publish::Workspace workspace,
             publish::Workspace::create(given_path(flags.folder), flags.name));
  if (!flags.json)
    say("Created repository \"%s\" in %s%s\n", flags.name.c_str(), flags.folder.c_str(),
        flags.folder.ends_with('/') ? "" : "/");
  return Json::object().set("format", 1).set("folder", path_text(workspace.folder())).set("name", flags.name);
}

constexpr const char* add_command = "engine-manifest add";

Diagnosis not_of_shape(const char* flag, const std::string& value, manifest::Shape shape) {
  return wrong_usage(
      add_command, std::string(flag) + " \"" + value + "\" is not " + std::string(manifest::describe(shape)));
}

// Refuses values that no manifest can hold, and those that would be ignored.
Result<void> check_added(const ManifestFlags& flags) {
  struct Named {
    const char* flag;
    const std::string& value;
    manifest::Shape shape;
  };
  for (const Named& one :
       {Named{"--engine", flags.add.engine, manifest::is_lower_id},
        Named{"--version", flags.add.version, manifest::is_id},
        Named{"--flavor", flags.add.flavor, manifest::is_lower_id},
        Named{"--id", flags.add.id, manifest::is_id}, Named{"--license", flags.add.license, manifest::is_id}})
    if (!one.value.empty() && !one.shape(one.value))
      return fail(not_of_shape(one.flag, one.value, one.shape));
  struct Listed {
    const char* flag;
    const std::vector<std::string>& values;
    manifest::Shape shape;
  };
  for (const Listed& one : {Listed{"--select", flags.add.select, manifest::is_view_path},
                            Listed{"--lazy", flags.add.lazy, manifest::is_file_name},
                            Listed{"--url", flags.add.urls, manifest::is_url_text}})
    for (const std::string& value : one.values)
      if (!one.shape(value)) return fail(not_of_shape(one.flag, value, one.shape));
  TRY(check_one_line(add_command, "--license-id", flags.add.license_id));
  for (const std::string& value : flags.add.capabilities)
    TRY(check_one_line(add_command, "--capability", value));
  std::error_code error;
  if (!flags.add.urls.empty() && fs::is_directory(given_path(flags.file), error))
    return fail(wrong_usage(add_command, "--url with the folder " + flags.file +
                                             ": the folder is packed here, and no URL has the same "
                                             "archive; add the archive of that URL"));
  return {};
}

Result<Json> add(ManifestFlags& flags) {
  TRY(check_added(flags));
  TRY_ASSIGN(const publish::Workspace workspace, publish::Workspace::open(given_path(flags.folder)));
  flags.add.file = given_path(flags.file);
  if (!flags.plugin.empty()) flags.add.plugin = given_path(flags.plugin);
  TRY_ASSIGN(const publish::Added added, publish::add(workspace, flags.add));
  if (!flags.json)
    say("%s  added to %s\n  requires %s\n", added.build.c_str(), path_text(added.manifest).c_str(),
        added.requirements.dump().c_str());
  Json warnings = Json::array();
  for (const Diagnosis& one : added.warnings) warnings.push(explain::to_json(one));
  print_warnings({}, added.warnings, flags.quiet || flags.json);
  return Json::object()
      .set("format", 1)
      .set("build", added.build)
      .set("manifest", path_text(added.manifest))
      .set("requires", added.requirements)
      .set("warnings", std::move(warnings));
}

void say_finding(const char* kind, const Diagnosis& finding) {
  say("%s: %s\n", kind, explain::one_line(finding).c_str());
  if (const std::vector<std::string> remedy = explain::render(finding).remedy; !remedy.empty())
    say("  fix: %s\n", printable_line(with_given_flags(remedy.front())).c_str());
}

Result<int> lint(const ManifestFlags& flags) {
  const auto workspace = publish::Workspace::open_to_look(given_path(flags.folder));
  if (!workspace) return fail(of_arguments(workspace.error()));
  publish::LintFindings findings = publish::lint(*workspace, open::OpenContext::now());
  for (Diagnosis& one : findings.errors) one = of_arguments(std::move(one));
  Json errors = Json::array(), warnings = Json::array();
  for (const Diagnosis& one : findings.errors) errors.push(explain::to_json(one));
  for (const Diagnosis& one : findings.warnings) warnings.push(explain::to_json(one));
  if (flags.json) {
    print(Json::object()
              .set("format", 1)
              .set("errors", std::move(errors))
              .set("warnings", std::move(warnings)));
  } else {
    for (const Diagnosis& one : findings.warnings) say_finding("warning", one);
    for (const Diagnosis& one : findings.errors) say_finding("error", one);
    say("%s, %s\n", pluralize(findings.errors.size(), "error", "errors").c_str(),
        pluralize(findings.warnings.size(), "warning", "warnings").c_str());
  }
  return findings.errors.empty() ? 0 : static_cast<int>(explain::exit_status(findings.errors.front()));
}

// Reads keys from files, or from the arguments themselves.
Result<std::vector<manifest::PublicKey>> public_keys(const std::vector<std::string>& given) {
  std::vector<manifest::PublicKey> keys;
  for (const std::string& text : given) {
    TRY_ASSIGN(manifest::PublicKey key, given_public_key(text));
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<Json> stamp(const ManifestFlags& flags) {
  TRY_ASSIGN(const std::vector<publish::SecretKey> keys, secret_keys(flags));
  TRY_ASSIGN(const publish::Stamped stamped,
             publish::stamp(given_path(flags.folder), keys, flags.timestamp_hours, open::OpenContext::now()));
  if (!flags.json) {
    for (const std::string& document : stamped.documents) say("signed %s\n", document.c_str());
    say("valid until %s\n", stamped.expires.c_str());
  }
  return Json::object()
      .set("format", 1)
      .set("version", stamped.version)
      .set("expires", stamped.expires)
      .set("signed", Json::strings(stamped.documents));
}

Result<Json> sign(ManifestFlags& flags) {
  if (flags.timestamp) return stamp(flags);
  TRY_ASSIGN(const publish::Workspace workspace, publish::Workspace::open(given_path(flags.folder)));
  TRY_ASSIGN(flags.change.add, public_keys(flags.add_keys));
  TRY_ASSIGN(flags.change.add_for_timestamp, public_keys(flags.add_timestamp_keys));
  TRY_ASSIGN(flags.change.add_for_root, public_keys(flags.add_root_keys));
  TRY_ASSIGN(flags.change.add_for_index, public_keys(flags.add_index_keys));
  if (flags.root_threshold > 0) flags.change.root_threshold = flags.root_threshold;
  if (flags.index_threshold > 0) flags.change.index_threshold = flags.index_threshold;
  TRY_ASSIGN(const std::vector<publish::SecretKey> keys, secret_keys(flags));
  TRY_ASSIGN(const publish::Signed result,
             publish::sign(workspace, keys, flags.change, open::OpenContext::now()));
  if (!flags.json) {
    for (const std::string& document : result.documents) say("signed %s\n", document.c_str());
    if (result.documents.empty()) say("these keys have nothing left to sign\n");
    for (const std::string& line : result.missing) say("still missing: %s\n", line.c_str());
  }
  return Json::object()
      .set("format", 1)
      .set("root", result.root_version)
      .set("serial", result.serial)
      .set("signed", Json::strings(result.documents))
      .set("missing", Json::strings(result.missing));
}

Result<Json> publish_folder(const ManifestFlags& flags) {
  TRY_ASSIGN(const publish::Workspace workspace, publish::Workspace::open(given_path(flags.folder)));
  TRY_ASSIGN(const publish::Published done,
             publish::publish(workspace, given_path(flags.out), open::OpenContext::now()));
  Json warnings = Json::array();
  if (done.root_date) warnings.push(explain::to_json(*done.root_date));
  if (done.root_date) print_warnings({}, {*done.root_date}, flags.quiet || flags.json);
  if (!flags.json)
    say(done.changed ? "%s holds index %lld of %s%s\n" : "%s holds index %lld of %s already%s\n",
        flags.out.c_str(), static_cast<long long>(done.serial), workspace.name().c_str(),
        done.root_version == 0 ? ", unsigned" : "");
  return Json::object()
      .set("format", 1)
      .set("serial", done.serial)
      .set("root", done.root_version)
      .set("files", static_cast<std::int64_t>(done.files))
      .set("changed", done.changed)
      .set("warnings", std::move(warnings));
}

void add_options(CLI::App& adding, ManifestFlags& flags) {
  adding.add_option("FILE|DIR", flags.file, "the engine's files: an archive, a wheel or a folder")
      ->required();
  const char* group = "Naming the build";
  adding.add_option("--engine", flags.add.engine, "the engine's name, in lower case")
      ->required()
      ->type_name("ENGINE")
      ->group(group);
  adding.add_option("--version", flags.add.version, "the engine's version")
      ->required()
      ->type_name("VERSION")
      ->group(group);
  adding.add_option("--flavor", flags.add.flavor, "the flavor: cpu, cu118, ...")
      ->required()
      ->type_name("FLAVOR")
      ->group(group);
  adding.add_option("--id", flags.add.id, "the build's id; without it ENGINE-VERSION-FLAVOR-OS-ARCH")
      ->type_name("ID")
      ->group(group);
  adding
      .add_option("--priority", flags.add.priority,
                  "among builds that are otherwise alike the higher number is chosen first (default 50)")
      ->check(CLI::Range(-1'000'000, 1'000'000))
      ->type_name("N")
      ->group(group);
  group = "Files";
  adding.add_option("--plugin", flags.plugin, "the plugin: a library, an archive or a folder")
      ->type_name("FILE")
      ->group(group);
  repeatable(adding.add_option("--url", flags.add.urls, "a URL of the same file; repeatable"))
      ->type_name("URL")
      ->group(group);
  repeatable(adding.add_option("--select", flags.add.select,
                               "take only files of the archive that match this pattern; repeatable"))
      ->type_name("PATTERN")
      ->group(group);
  adding
      .add_option("--strip", flags.add.strip,
                  "drop this many leading folders (0 to 32) from names in the archive")
      ->check(CLI::Range(0, 32))  // the limits of the manifest's reader, as for the priority
      ->type_name("N")
      ->group(group);
  repeatable(adding.add_option("--lazy", flags.add.lazy, "a library that is opened at run time; repeatable"))
      ->type_name("NAME")
      ->group(group);
  group = "Describing it";
  repeatable(
      adding.add_option("--capability", flags.add.capabilities,
                        "a capability, such as device.cuda; repeatable; without it those of the plugin"))
      ->type_name("NAME")
      ->group(group);
  CLI::Option* const license =
      adding.add_option("--license", flags.add.license, "the license's name in the manifest")
          ->type_name("NAME")
          ->group(group);
  adding.add_option("--license-id", flags.add.license_id, "with --license: its SPDX id")
      ->type_name("ID")
      ->group(group)
      ->needs(license);
}

void sign_options(CLI::App& signing, ManifestFlags& flags) {
  const char* group = "Signing";
  repeatable(signing.add_option("--key", flags.keys, "a secret key of minisign; repeatable"))
      ->required()
      ->type_name("FILE")
      ->group(group);
  signing
      .add_option("--passphrase-fd", flags.passphrase_fd,
                  "read the passphrases from this descriptor, one a line, instead of the terminal")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N")
      ->group(group);
  signing
      .add_flag("--timestamp", flags.timestamp,
                "make and sign only a new timestamp.json, also in a published folder: for a scheduled job")
      ->group(group);
  signing
      .add_option("--hours", flags.timestamp_hours, "how long the new timestamp.json is valid; 48 without it")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{8760}))
      ->type_name("N")
      ->group(group);
  group = "Changing the keys";
  repeatable(
      signing.add_option("--add-key", flags.add_keys,
                         "a public key that may sign root and index from the next root on; repeatable"))
      ->type_name("FILE")
      ->group(group);
  repeatable(signing.add_option("--add-index-key", flags.add_index_keys,
                                "a public key that may sign only the index, even if it could sign the root "
                                "before; repeatable"))
      ->type_name("FILE")
      ->group(group);
  repeatable(signing.add_option("--add-root-key", flags.add_root_keys,
                                "a public key that may sign only the root, even if it could sign the index "
                                "before; repeatable"))
      ->type_name("FILE")
      ->group(group);
  repeatable(
      signing.add_option("--add-timestamp-key", flags.add_timestamp_keys,
                         "a public key that may sign timestamp.json, by which withdrawals reach machines "
                         "soon; repeatable"))
      ->type_name("FILE")
      ->group(group);
  repeatable(signing.add_option("--remove-key", flags.change.remove,
                                "a key id that the next root leaves out; repeatable"))
      ->type_name("ID")
      ->group(group);
  repeatable(signing.add_option("--revoke-key", flags.change.revoke,
                                "a key id whose signatures no longer count; repeatable"))
      ->type_name("ID")
      ->group(group);
  // With a threshold of 0 a document would not be signed.
  const CLI::Range at_least_one(std::int64_t{1}, std::int64_t{1000});
  signing.add_option("--root-threshold", flags.root_threshold, "how many keys must sign a root")
      ->check(at_least_one)
      ->type_name("N")
      ->group(group);
  signing.add_option("--index-threshold", flags.index_threshold, "how many keys must sign an index")
      ->check(at_least_one)
      ->type_name("N")
      ->group(group);
}

Result<int> report(Result<Json> result, bool json) {
  if (!result) return fail(of_arguments(std::move(result).error()));
  if (json) print(*result);
  return 0;
}

Result<int> run(int argc, char** argv) {
  CLI::App app{"make, check, sign and publish repositories of engine builds"};
  app.name("engine-manifest");
  app.require_subcommand(1);
  app.fallthrough();
  ManifestFlags flags;
  const char* group = "Output";
  app.add_flag("--json", flags.json, "print exactly one JSON document")->group(group);
  app.add_flag("--quiet", flags.quiet, "print no progress and no warnings, except those of lint")
      ->group(group);
  app.add_flag("--verbose", flags.verbose, "print more")->group(group);
  app.add_flag("--offline", flags.offline, "open no socket: only follow does otherwise")->group(group);
  add_version_flag(app);
  const auto subcommand = [&](const char* name, const char* text) {
    CLI::App* made = app.add_subcommand(name, text);
    made->add_option("DIR", flags.folder, "the folder of the repository")->required();
    return made;
  };
  CLI::App* starting = subcommand("init", "begin a repository in a folder");
  starting->add_option("--name", flags.name, "the name that users see")->required()->type_name("NAME");
  CLI::App* adding = subcommand("add", "add a build; its requirements are read from its files");
  add_options(*adding, flags);
  CLI::App* linting = subcommand("lint", "find what would fail on users' machines");
  CLI::App* signing = subcommand("sign", "make the index, and sign it and the root");
  sign_options(*signing, flags);
  CLI::App* publishing = subcommand("publish", "write the folder that a web server serves");
  publishing->add_option("OUT", flags.out, "the folder to write")->required();
  const auto follow = add_follow(app, {flags.json, flags.quiet, flags.verbose, flags.offline});
  if (const auto status = parse(app, argc, argv)) return *status;
  if (app.got_subcommand("follow")) return follow();
  if (starting->parsed()) return report(init(flags), flags.json);
  if (adding->parsed()) return report(add(flags), flags.json);
  if (linting->parsed()) return lint(flags);
  if (signing->parsed()) return report(sign(flags), flags.json);
  return report(publish_folder(flags), flags.json);
}

}  // namespace

}  // namespace enginehost::commands

int engine_command_manifest(int argc, char** argv) {
  using namespace enginehost::commands;
  add_help_texts(
      {{"engine-manifest",
        {{"engine-manifest init repository --name \"Toy engines\"", "begin a repository"},
         {"engine-manifest lint repository", "find what would fail for users"}},
        "publishing.md"},
       {"engine-manifest init",
        {{"engine-manifest init repository --name \"Toy engines\"", "begin a repository"},
         {"engine-manifest init repository --name \"Toy engines\" --json", "the same for a program"}},
        "publishing.md"},
       {"engine-manifest add",
        {{"engine-manifest add repository toy --engine toy --version 1.0 --flavor cpu", "pack a folder"},
         {"engine-manifest add repository toy.whl --engine toy --version 1.0 --flavor cpu "
          "--plugin libengine_toy.so",
          "a wheel and its plugin"}},
        "publishing.md"},
       {"engine-manifest lint",
        {{"engine-manifest lint repository", "one line for each finding"},
         {"engine-manifest lint repository --json", "the same for a program"}},
        "publishing.md"},
       {"engine-manifest sign",
        {{"engine-manifest sign repository --key safe.key", "sign with one key"},
         {"engine-manifest sign repository --key safe.key --add-index-key daily.pub",
          "let a second key sign the index"}},
        "publishing.md"},
       {"engine-manifest follow",
        {{"engine-manifest follow plans/toy.json", "write the rows of new releases"},
         {"engine-manifest follow plans/toy.json --check --json", "what would change, for a program"}},
        "publishing.md"},
       {"engine-manifest publish",
        {{"engine-manifest publish repository served", "write the folder for a web server"},
         {"engine-manifest publish repository served --json", "the same for a program"}},
        "publishing.md"}});
  return guarded(argc, argv, run);
}
