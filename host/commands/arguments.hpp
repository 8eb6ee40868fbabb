// What the words of a command line are, told where the parser tells too little.
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"
#include "host/commands/cli.hpp"

namespace enginehost::commands {

// The words of argv, read along the command and its subcommands as the parser reads them.
struct Words {
  std::string command;                   // "engine-cache quarantine": as far as it can be followed
  std::optional<std::string> swallowed;  // a flag that would be taken for the value of the one before it
  std::optional<std::string> unknown;  // the first flag or subcommand that there is none of, and the nearest
};
Words words_of(const CLI::App& app, int argc, char** argv);

}  // namespace enginehost::commands
