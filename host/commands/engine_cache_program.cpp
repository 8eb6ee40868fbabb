// engine-cache without the subcommands of tools/, in builds without them.
#include "host/commands/engine_cache.hpp"
#include "host/commands/entry.hpp"

int engine_command_cache(int argc, char** argv) {
  return enginehost::commands::run_engine_cache(argc, argv, {});
}
