#include "host/commands/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version_specifier.hpp"
#include "cache/record_names.hpp"
#include "host/commands/common.hpp"
#include "host/commands/help.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

std::string flag_of(const std::string& word) { return word.substr(0, word.find('=')); }

bool looks_like_flag(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9');
}

bool has_name(const CLI::Option& option, const std::string& flag) {
  if (!option.nonpositional()) return false;
  for (const std::string& name : option.get_lnames())
    if (flag == "--" + name) return true;
  for (const std::string& name : option.get_snames())
    if (flag == "-" + name) return true;
  return false;
}

const CLI::Option* find(const CLI::App& app, const std::string& flag) {
  for (const CLI::Option* option : options_of(app))
    if (has_name(*option, flag)) return option;
  return nullptr;
}

// Flags of a command may also stand behind its subcommands.
const CLI::Option* find_upwards(const CLI::App* app, const std::string& flag) {
  for (; app != nullptr; app = app->get_parent())
    if (const CLI::Option* option = find(*app, flag)) return option;
  return nullptr;
}

// Returns the subcommand that knows the flag, however deep it is.
const CLI::App* owner_below(const CLI::App& app, const std::string& flag) {
  for (const CLI::App* below : subcommands_of(app)) {
    if (find(*below, flag) != nullptr) return below;
    if (const CLI::App* owner = owner_below(*below, flag)) return owner;
  }
  return nullptr;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known, 2);
  return near ? "; did you mean " + *near + "?" : std::string();
}

// Returns true for a word that tools/commands adds to a command, where it is built.
bool is_of_the_tools(const CLI::App& app, const std::string& word) {
  const std::string command = path_of_command(app);
  return (command == "engine-cache" && (word == "push" || word == "export" || word == "fulfil")) ||
         (command == "engine-info" && (word == "--bench" || word == "--plot")) ||
         ((command == "engine-info" || command == "engine-run") && word == "--from-index");
}

std::string of_the_tools(const CLI::App& app, const std::string& word) {
  return word + " belongs to the tools of EngineHost, and this " + path_of_command(app) +
         " was built without them: build EngineHost again with scripts/setup.sh --all, or with cmake "
         "-DENGINEHOST_TOOLS=ON";
}

std::string unknown_flag(const CLI::App* at, const std::string& flag) {
  if (is_of_the_tools(*at, flag)) return of_the_tools(*at, flag);
  if (const CLI::App* owner = owner_below(*at, flag))
    return flag + " is a flag of " + path_of_command(*owner) + ": write it behind that";
  std::vector<std::string> known;
  for (const CLI::App* app = at; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : options_of(*app))
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  return "there is no flag " + flag + did_you_mean(flag, known);
}

std::string unknown_subcommand(const CLI::App* at, const std::string& word) {
  if (is_of_the_tools(*at, word)) return of_the_tools(*at, word);
  if (word == "help") return "help is no subcommand; " + path_of_command(*at) + " --help shows the help";
  std::vector<std::string> known;
  for (const CLI::App* below : subcommands_of(*at)) known.push_back(below->get_name());
  const std::string guess = did_you_mean(word, known);
  return "there is no subcommand " + word + (guess.empty() ? ": " + join(known, ", ") : guess);
}

}  // namespace

Words words_of(const CLI::App& app, int argc, char** argv) {
  Words words;
  const CLI::App* at = &app;
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const std::string word = argv[i];
    if (!looks_like_flag(word)) {
      const CLI::App* next = nullptr;
      for (const CLI::App* below : subcommands_of(*at))
        if (below->get_name() == word) next = below;
      if (next == nullptr && !subcommands_of(*at).empty() && !word.empty() && !words.unknown)
        words.unknown = unknown_subcommand(at, word);
      if (next != nullptr)
        at = next;
      else
        words.bare = false;
      continue;
    }
    const CLI::Option* option = find_upwards(at, flag_of(word));
    if (option == nullptr) {
      if (!words.unknown) words.unknown = unknown_flag(at, flag_of(word));
      words.bare = false;
      continue;
    }
    if (find(*at, flag_of(word)) != nullptr) words.bare = false;
    if (word.find('=') != std::string::npos || option->get_items_expected_min() == 0 || i + 1 >= argc)
      continue;
    const std::string value = argv[++i];
    const bool is_flag = looks_like_flag(value) && (find_upwards(at, flag_of(value)) != nullptr ||
                                                    owner_below(app, flag_of(value)) != nullptr);
    if (is_flag && !words.swallowed)
      words.swallowed = word + " wants a value, and " + value + " behind it is a flag itself: write " + word +
                        "=" + value + " if it is meant as the value";
  }
  words.app = at;
  words.command = path_of_command(*at);
  return words;
}

namespace {

std::string forms() { return std::string(version_forms); }

}  // namespace

Diagnosis wrong_usage(const std::string& program, const std::string& problem) {
  return diagnose(Code::argument_wrong).with(Key::program, program).with(Key::problem, problem);
}

void add_choice(CLI::App& app, EngineConstraints& choice, CommonFlags& common, const char* group,
                const std::string& device) {
  app.add_option("--flavor", choice.flavor, "prefer a flavor: cpu, cu118, mps, ... [env: ENGINEHOST_FLAVOR]")
      ->type_name("FLAVOR")
      ->group(group);
  app.add_option("--require", choice.require, "this flavor or an error: no fallback")
      ->type_name("FLAVOR")
      ->group(group);
  app.add_option("--device", choice.device, device + " [env: ENGINEHOST_DEVICE]")
      ->type_name("DEVICE")
      ->group(group);
  app.add_option("--update", common.values.update,
                 "while an older build is installed, a newer one is fetched (open), reported (report, the "
                 "default) or not mentioned (never) [env: ENGINEHOST_UPDATE]")
      ->type_name("WHEN")
      ->group(group);
  app.add_option("--force", choice.force,
                 "try this build first, even if it is quarantined or does not fit this machine [env: "
                 "ENGINEHOST_FORCE]")
      ->type_name("BUILD")
      ->group(group);
}

Result<resolve::Request> request_of(const std::string& program, const EngineConstraints& constraint) {
  resolve::Request request;
  // "pytorch>=2" is accepted without "@".
  const std::size_t at = constraint.engine.find_first_of("@<>=!~");
  request.engine = trim(std::string_view(constraint.engine).substr(0, at));
  if (at != std::string::npos)
    request.version = constraint.engine.substr(at + (constraint.engine[at] == '@' ? 1 : 0));
  if (request.engine.empty() && !constraint.engine.empty())
    return fail(wrong_usage(program, "\"" + constraint.engine + "\" names " +
                                         (at != std::string::npos ? "a version and " : "") +
                                         "no engine: ENGINE@VERSION"));
  if (at != std::string::npos && request.version.empty())
    return fail(wrong_usage(program, "\"" + constraint.engine +
                                         "\" ends without a version: give ENGINE@VERSION, or ENGINE alone "
                                         "for the newest one"));
  if (request.engine.find_first_of("[]()") != std::string::npos)
    return fail(wrong_usage(program, "\"" + constraint.engine +
                                         "\" is no engine's name; a version stands behind it as " +
                                         "ENGINE@VERSION, and VERSION is one of: " + forms()));
  if (const std::string wrong = VersionSpecifier(request.version).problem(); !wrong.empty())
    return fail(wrong_usage(program, "\"" + constraint.engine + "\": " + wrong +
                                         "; give ENGINE@VERSION, and VERSION as " + "one of: " + forms()));
  if (!constraint.require.empty() && !constraint.flavor.empty() && constraint.require != constraint.flavor)
    return fail(wrong_usage(program, "--require " + constraint.require + " and --flavor " +
                                         constraint.flavor +
                                         " contradict each other: --require allows no other flavor, so "
                                         "leave one of them out"));
  request.flavor = constraint.require.empty() ? constraint.flavor : constraint.require;
  request.require = !constraint.require.empty();
  if (!request.flavor.empty()) request.flavor_source = request.require ? constraint.require_flag : "--flavor";
  request.force = constraint.force;
  request.device = constraint.device;
  if (!request.device.empty()) request.device_source = "--device";
  if (const std::string wrong = settings::not_a_device(constraint.device); !wrong.empty())
    return fail(wrong_usage(program, "--device \"" + constraint.device + "\": " + wrong));
  return request;
}

namespace {

constexpr std::uint64_t largest_file = 8u << 20;

Result<platform::Platform> read(const std::string& file) {
  TRY_ASSIGN(const std::string text, read_file(path_of(file), largest_file, Code::given_file_not_readable));
  TRY_ASSIGN(const Json document, parse_json(text, file));
  return platform::platform_from_json(document, file);
}

}  // namespace

Result<platform::Platform> recorded_platform(const std::string& file) {
  auto platform = explain::mark_as_argument(read(file));
  if (!platform) platform.error().with(Key::named_by, "--platform");
  return platform;
}

Result<manifest::PublicKey> given_public_key(const std::string& text) {
  std::error_code error;
  if (!std::filesystem::exists(path_of(text), error)) {
    auto key = manifest::read_public_key(text, text);
    // A text that does not begin like a key was meant as a file.
    if (!key && !text.starts_with("RW"))
      TRY(stamp_of(path_of(text), Code::given_file_not_readable).map([](const FileStamp&) {}));
    return key;
  }
  TRY_ASSIGN(const std::string bytes, read_file(path_of(text), 64u << 10, Code::key_file_unusable));
  return manifest::read_public_key(bytes, text);
}

namespace {

Result<std::string> one_of(const std::string& given, const std::set<std::string>& matches,
                           const std::string& kind) {
  if (matches.empty()) return given;
  if (matches.size() == 1) return *matches.begin();
  return fail(wrong_usage(
      "engine-cache", "\"" + given + "\" matches " + std::to_string(matches.size()) + " " + kind +
                          ", so more of the id is needed: " + join({matches.begin(), matches.end()}, ", ")));
}

// ENGINE, ENGINE@VERSION, ENGINE-VERSION or ENGINE-VERSION-FLAVOR.
bool is_called(const KnownBuild& build, const std::string& given) {
  if (build.engine.empty()) return false;
  if (given == build.engine || given == build.engine + "-" + build.version ||
      given == build.engine + "-" + build.version + "-" + build.flavor)
    return true;
  const std::size_t at = given.find('@');
  if (at == std::string::npos || given.substr(0, at) != build.engine) return false;
  const std::string version = given.substr(at + 1);
  return !version.empty() && VersionSpecifier(version).accepts(build.version);
}

const std::string& id_of(const KnownBuild& build) { return build.id.empty() ? build.name : build.id; }

std::string with_engine(const KnownBuild& build) {
  return build.engine.empty() ? build.name : cache::with_engine(build.engine, id_of(build));
}

// Returns the name of the build with that whole name, if there is one.
Result<std::optional<std::string>> build_called(const std::string& given,
                                                const std::vector<KnownBuild>& known) {
  std::set<std::string> names, candidates;
  for (const KnownBuild& build : known) {
    if (!build.engine.empty() && with_engine(build) == given) return std::optional(build.name);
    if (build.name != given && id_of(build) != given) continue;
    names.insert(build.name);
    candidates.insert(with_engine(build));
  }
  if (names.empty()) return std::optional<std::string>();
  if (names.size() == 1) return std::optional(*names.begin());
  return fail(wrong_usage("engine-cache", "\"" + given + "\" is the id of " + std::to_string(names.size()) +
                                              " builds of different engines, so the engine is needed, too: " +
                                              join({candidates.begin(), candidates.end()}, ", ")));
}

}  // namespace

std::vector<KnownBuild> known_builds(const std::vector<cache::Installed>& installed) {
  std::vector<KnownBuild> known;
  for (const cache::Installed& one : installed)
    known.push_back({one.build, one.engine, one.version, one.flavor, one.id});
  return known;
}

Result<std::string> build_named(const std::string& given, const std::vector<KnownBuild>& known) {
  if (given.empty()) return given;
  TRY_ASSIGN(const auto called, build_called(given, known));
  if (called) return *called;
  std::set<std::string> named, begun;
  for (const KnownBuild& build : known) {
    if (is_called(build, given)) named.insert(build.name);
    if (build.name.starts_with(given) || id_of(build).starts_with(given)) begun.insert(build.name);
  }
  return one_of(given, named.empty() ? begun : named, "builds");
}

Result<std::string> installed_build(const cache::Store& store, const std::string& given) {
  // A record that cannot be read is still that of a whole id.
  if (given.empty() || !store.record_of(given)) return given;
  const std::vector<cache::Installed> installed = store.list();
  TRY_ASSIGN(const auto called, build_called(given, known_builds(installed)));
  if (called) return *called;
  for (const bool read_only : {false, true}) {
    std::vector<cache::Installed> some = installed;
    std::erase_if(some, [&](const cache::Installed& one) { return one.read_only != read_only; });
    TRY_ASSIGN(std::string name, build_named(given, known_builds(some)));
    if (name != given) return name;
  }
  return given;
}

Result<std::string> id_beginning_with(const std::string& given, const std::vector<std::string>& ids,
                                      const std::string& kind) {
  std::set<std::string> begun;
  for (const std::string& id : ids) {
    if (id == given) return given;
    if (!given.empty() && id.starts_with(given)) begun.insert(id);
  }
  return one_of(given, begun, kind);
}

}  // namespace enginehost::commands
