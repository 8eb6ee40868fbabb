// Help texts of the commands: what `--help` prints, and what a command without arguments prints on standard
// error.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace enginehost::commands {

// The part of a command's help that is not generated from its flags.
struct HelpText {
  struct Example {
    std::string_view command, meaning;
  };
  std::string_view command;  // "engine-cache pin"
  std::vector<Example> examples;
  std::string_view page;  // the page that describes it, in docs/
};

// Adds the texts of a program that has more commands. Call it before help_of(), from the main thread.
void add_help_texts(const std::vector<HelpText>& more);

// Returns the texts of a command or subcommand; nullptr if there are none.
const HelpText* help_text_of(std::string_view command);

// Returns the name of a command with those of the commands above it: "engine-cache quarantine show".
std::string path_of_command(const CLI::App& command);

// Returns the help of one command: usage, one sentence, examples, subcommands, arguments, flags in groups,
// and the page that describes it. Lines are wrapped at `columns`; below 40 they are as for 40.
std::string help_of(const CLI::App& command, std::size_t columns);

}  // namespace enginehost::commands
