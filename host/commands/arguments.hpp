// The words of a command line, for messages that are clearer than the parser's.
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"
#include "host/commands/cli.hpp"

namespace enginehost::commands {

// The words of argv, read along the command and its subcommands as the parser reads them.
struct Words {
  const CLI::App* app = nullptr;         // the subcommand, as far as the words name one
  std::string command;                   // its name: "engine-cache quarantine"
  bool bare = true;                      // it got no argument and none of its own flags
  std::optional<std::string> swallowed;  // a flag that would become the value of the flag before it
  std::optional<std::string> unknown;    // the first unknown flag or subcommand, with the nearest known one
};
Words words_of(const CLI::App& app, int argc, char** argv);

}  // namespace enginehost::commands
