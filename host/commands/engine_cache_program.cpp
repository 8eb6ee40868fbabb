// engine-cache without the subcommands of tools/, in builds without them.
#include "host/commands/engine_cache.hpp"
#include "host/commands/program.hpp"

int enginehost::commands::run_program(int argc, char** argv) { return run_engine_cache(argc, argv, {}); }
