// engine-info without the flags of tools/, in builds without them.
#include "host/commands/engine_info.hpp"
#include "host/commands/entry.hpp"

int engine_command_info(int argc, char** argv) {
  return enginehost::commands::run_engine_info(argc, argv, nullptr, nullptr);
}
