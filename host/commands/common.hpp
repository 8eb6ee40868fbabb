// What the commands share: flags, settings, consent, progress, and one way to end.
#pragma once
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
#include "host/commands/cli.hpp"
#include "host/commands/terminal.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/progress_bar.hpp"

namespace enginehost::commands {

// The flags every command knows.
struct CommonFlags {
  bool json = false, quiet = false, verbose = false, offline = false;
  std::vector<std::string> repositories, installations, accept_licenses;
  std::string cache;

  void add_to(CLI::App& app);
};

// An option that may be given several times, with one value each time: what follows that value is an argument
// of its own, not one more value.
CLI::Option* repeatable(CLI::Option* option);

// The whole path of a file or folder named on the command line, without "." and "..": behind a link ".."
// leads where it leads the file system.
std::filesystem::path given_path(const std::string& path);

// Thrown by nothing: a command returns its exit status. Reads argv into the app; a wrong argument, an empty
// or blank value among them, is printed with the remedy (and, with --json among the arguments, as a document)
// and gives 2, --help and --version give 0. Nothing means go on.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

// Settings from flags, environment and configuration files.
Result<settings::Settings> settings_of(const CommonFlags& flags, settings::FlagValues values = {});

// What is left when the configuration cannot be used: no file and no ENGINEHOST_ variable but the cache is
// read, and that one not if it is what cannot be used. Good for telling what machine this is, never for
// opening an engine: policy may be among what was not read.
Result<settings::Settings> settings_without_configuration(const CommonFlags& flags);

// Asks on a terminal for more than 100 MB or a license that wants acceptance, whose text is shown first where
// it can be had; without a terminal a license must have been accepted before, by --accept-license or by
// policy. What is accepted is recorded. EH-P03 with "license", "url" or "bytes" when declined; else as
// open::licenses_to_ask. The world must outlive the function.
// A bar that is drawn is wiped before the first question.
std::function<Result<void>(const acquire::Question&)> consent_for(open::OpenContext& context,
                                                                  transfer::ProgressBar* bar = nullptr);

// Prints a diagnosis, as a document on stdout ("format", "diagnosis") with `json`, else as text on stderr,
// and returns its exit status.
int end_with(const Diagnosis& diagnosis, bool json);

// The style for failures on this stream: on a terminal wrapped, and in color unless NO_COLOR or TERM=dumb is
// set.
explain::Style style_of(std::FILE* stream);
// Prints described() on the stream, standard error or standard output, in the style of the stream.
void say_failure(const Diagnosis& diagnosis, std::FILE* stream = stderr, bool beside_plan = false);

// One document on stdout.
void print(const Json& document);
// "warning: …" lines on stderr unless quiet.
void print_warnings(const std::vector<std::string>& warnings, const std::vector<Diagnosis>& diagnoses,
                    bool quiet);

// Whether a document was asked for, whatever else the arguments say.
bool json_asked_for(int argc, char** argv);

// Runs a command's body; what a library throws in spite of everything ends as "a bug of ours", status 1, and
// what could not be written to standard output as EH-P50 where all else went well.
int guarded(int argc, char** argv, const std::function<int()>& body);

}  // namespace enginehost::commands
