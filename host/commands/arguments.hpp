// Arguments of the command lines.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cache/store.hpp"
#include "host/manifest/trust/minisign.hpp"
#include "host/platform/platform.hpp"
#include "host/resolve/plan.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace enginehost::commands {

struct CommonFlags;

// Returns EH-P40 with the program and the problem.
Diagnosis wrong_usage(const std::string& program, const std::string& problem);

// The arguments as they were typed: ENGINE[@VERSION] or ENGINE>=VERSION, --flavor, --require, --device,
// --force.
struct EngineConstraints {
  std::string engine, flavor, require, device;
  std::string require_flag = "--require";  // the flag that set `require`
  std::string force = {};
};

// Adds --flavor, --require, --device, --update and --force, which engine-info and engine-run share.
void add_choice(CLI::App& app, EngineConstraints& choice, CommonFlags& common, const char* group,
                const std::string& device);

// Returns the request. Errors: EH-P40 for "@1", for "ENGINE@", for a version that cannot be read, for two
// flavors that contradict each other, and for a device list that cannot be read. Without an engine only the
// other arguments are checked.
Result<resolve::Request> request_of(const std::string& program, const EngineConstraints& constraint);

// The words of argv, read along the command and its subcommands as the parser reads them.
struct Words {
  const CLI::App* app = nullptr;         // the subcommand, as far as the words name one
  std::string command;                   // its name: "engine-cache quarantine"
  bool bare = true;                      // it got no argument and none of its own flags
  std::optional<std::string> swallowed;  // a flag that would become the value of the flag before it
  std::optional<std::string> unknown;    // the first unknown flag or subcommand, with the nearest known one
};
Words words_of(const CLI::App& app, int argc, char** argv);

// Reads the machine of --platform FILE, as engine-info --platform-json writes it. Errors: EH-P47, EH-M01,
// EH-M02, marked as being about an argument.
Result<platform::Platform> recorded_platform(const std::string& file);

// Reads a file that holds the key, or the key itself. EH-P47: there is no such file. EH-M15: the text is no
// key.
Result<manifest::PublicKey> given_public_key(const std::string& text);

// Short names of builds, licenses and keys.
//
// A build may be named by its id, by ENGINE+ID, by a unique beginning of its id, or by ENGINE,
// ENGINE@VERSION, ENGINE-VERSION or ENGINE-VERSION-FLAVOR if exactly one known build has these. Whole names
// go before beginnings. An id that builds of two engines have must be given as ENGINE+ID. A name that matches
// nothing is returned as it was given, so that the command reports it in its own way (EH-S23, EH-S20,
// EH-P07). Errors: EH-P40 lists the matches if there are several.

// The meaning of the argument ID in help texts.
inline constexpr const char* build_id_meaning =
    "an installed build: its id (or ENGINE+ID), a unique beginning of it, ENGINE or ENGINE@VERSION";

struct KnownBuild {
  std::string name;                                    // on this machine: cache/record_names.hpp
  std::string engine = {}, version = {}, flavor = {};  // empty if unknown: only the name counts then
  std::string id = {};                                 // as published; empty: the name
};
std::vector<KnownBuild> known_builds(const std::vector<cache::Installed>& installed);

// Returns the name of the one known build that `given` names, or `given` if it names none.
Result<std::string> build_named(const std::string& given, const std::vector<KnownBuild>& known);

// Returns the name of the installed build that `given` names, or `given` if it names none. Short names of
// builds of the writable layer go before those of read-only layers.
Result<std::string> installed_build(const cache::Store& store, const std::string& given);

// Returns the one of `ids` that is equal to `given` or begins with it; `given` if there is none. `kind` is
// what they are, for the message: "licenses".
Result<std::string> id_beginning_with(const std::string& given, const std::vector<std::string>& ids,
                                      const std::string& kind);

}  // namespace enginehost::commands
