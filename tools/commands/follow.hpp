// engine-manifest follow: rows of a manifest from the releases of the package index.
#pragma once
#include <functional>

#include "base/result.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace enginehost::commands {

// The flags of engine-manifest that follow obeys, too.
struct FollowOutput {
  const bool &json, &quiet, &verbose, &offline;
};

// Adds the subcommand. The function runs it, prints the report, and returns the exit status.
std::function<Result<int>()> add_follow(CLI::App& app, const FollowOutput& output);

}  // namespace enginehost::commands
