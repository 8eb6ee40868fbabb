// Shared by the commands: flags, settings, consent, progress, and how a command ends.
#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/acquire/acquire.hpp"
#include "host/commands/system.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/progress_bar.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace enginehost::commands {

// The flags of all commands that choose or open engines.
struct CommonFlags {
  bool json = false, quiet = false, verbose = false, yes = false;
  settings::FlagValues values;

  // The app refers to this object until its arguments are parsed.
  void add_to(CLI::App& app);
};

void add_version_flag(CLI::App& app);

// Makes an option repeatable. It takes one value each time, so that the next word is an argument.
CLI::Option* repeatable(CLI::Option* option);

// Returns the absolute path of a file or folder named on the command line, without "." and "..". Behind a
// link ".." leads where it leads the file system.
std::filesystem::path given_path(const std::string& path);

// Reads argv into the app. Returns the exit status if the command ends here, else nothing; does not throw.
// --help and --version return 0. A wrong argument, or an empty or blank value, returns 2; it is printed with
// its remedy, and with --json as a document. A command that needs arguments and got none prints its help on
// standard error and returns 2.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

// Makes root's command go on as the owner of the folder, with a warning, unless `quiet`.
Result<void> become_owner(const std::filesystem::path& folder, bool quiet);
// The same for the cache of these flags, or for the home folder that HOME still names after sudo or su. Files
// of that user are then neither read nor run with root's rights. Call it before settings are read.
Result<void> go_on_as_owner(const CommonFlags& flags);

// Returns the settings from flags, environment and configuration files.
settings::FlagValues values_of(const CommonFlags& flags);
Result<settings::Settings> settings_of(const CommonFlags& flags);

// Returns settings for a configuration that cannot be used. Reads no file and no ENGINEHOST_ variable except
// the cache's, and not that one if it is unusable. For showing the machine only, never for opening an engine,
// because the policy was not read.
Result<settings::Settings> settings_without_configuration(const CommonFlags& flags);

// A download up to this size needs no consent. Bytes.
constexpr std::uint64_t size_to_ask_for = 100'000'000;

// Returns "pytorch 2.11.0 cpu"; the name of the plugin if it was opened without a manifest.
std::string title_of(const cache::Installed& installed);

// Returns whether a command can ask a person: standard input and standard error are a terminal.
bool can_ask();

// Returns the consent function of a command. On a terminal it asks for each license that needs acceptance,
// the last time together with the size. Without such a license it asks before a download of more than
// size_to_ask_for, unless `yes`. It prints what the license covers and shows its text first, a long one on
// demand. A license that was refused is not asked about again by this function. Without a terminal a license
// must have been accepted before, by
// --accept-license or by policy; the size is not asked for. Acceptances are recorded.
//
// `bar` is cleared before a question, and shows what is going to be downloaded. The context and the bar must
// outlive the function. Errors: EH-P03 with "license", "url" or "bytes" if declined; those of
// consent::licenses_to_ask.
std::function<Result<void>(const acquire::Question&)> consent_for(open::OpenContext& context,
                                                                  transfer::ProgressBar* bar = nullptr,
                                                                  bool yes = false);

// Returns a callback that shows the progress of work on files of this machine.
std::function<void(std::uint64_t, std::uint64_t)> bar_for(transfer::ProgressBar& bar, std::string what);

// Prints a diagnosis and returns its exit status. With `json` it is a document on stdout ("format",
// "diagnosis"), else text on stderr.
int end_with(const Diagnosis& diagnosis, bool json);

// Returns the style for failures on this stream: on a terminal wrapped, and in color unless NO_COLOR or
// TERM=dumb is set.
explain::Style style_of(std::FILE* stream);
// Prints described() on the stream, standard error or standard output, in the style of the stream. EH-P10 is
// one line on standard error: how much of a download is kept.
void say_failure(const Diagnosis& diagnosis, std::FILE* stream = stderr, bool beside_plan = false);

// Prints one document on stdout.
void print(const Json& document);
// Prints "warning: …" lines on stderr unless quiet. Warnings of what EngineHost itself overcame need
// `verbose`.
void print_warnings(const std::vector<std::string>& warnings, const std::vector<Diagnosis>& diagnoses,
                    bool quiet, bool verbose = false);

// Returns whether --json was given, whatever else the arguments say.
bool json_asked_for(int argc, char** argv);

// Runs a program and returns its exit status. A failure is printed, as is an exception of a library (EH-P99,
// status 1). If standard output could not be written and all else went well, the command ends with EH-P50.
int guarded(int argc, char** argv, const std::function<Result<int>(int argc, char** argv)>& program);

}  // namespace enginehost::commands
