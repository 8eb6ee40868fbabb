// engine-run without the flags of tools/, in builds without them.
#include "host/commands/engine_run.hpp"
#include "host/commands/entry.hpp"

int engine_command_run(int argc, char** argv) {
  return enginehost::commands::run_engine_run(argc, argv, nullptr);
}
