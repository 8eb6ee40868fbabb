// engine-info without the flags of tools/, in builds without them.
#include "host/commands/engine_info.hpp"
#include "host/commands/program.hpp"

int enginehost::commands::run_program(int argc, char** argv) {
  return run_engine_info(argc, argv, nullptr, nullptr);
}
