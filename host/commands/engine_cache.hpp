// engine-cache, and how a program adds subcommands to it: tools/commands adds those of publishers.
#pragma once
#include <functional>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/commands/cli.hpp"
#include "host/commands/common.hpp"

namespace enginehost::commands {

struct CacheRun {
  const settings::Settings& settings;
  const CommonFlags& common;
  const CancelToken& cancel;
};

// `run` holds the flags of the subcommand. It prints the text and returns the document that --json prints.
struct CacheSubcommand {
  CLI::App* parser = nullptr;
  std::function<Result<Json>(const CacheRun& run)> run;
};
using AddSubcommand = CacheSubcommand (*)(CLI::App& app);

CacheSubcommand add_import(CLI::App& app);
CacheSubcommand add_request(CLI::App& app);

// Runs the program and returns its status. Its own subcommands stand before the added ones.
int run_engine_cache(int argc, char** argv, const std::vector<AddSubcommand>& added);

}  // namespace enginehost::commands
