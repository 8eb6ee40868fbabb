// engine-run with the flags of tools/.
#include "host/commands/engine_run.hpp"

#include "host/commands/entry.hpp"
#include "tools/commands/from_index.hpp"

int engine_command_run(int argc, char** argv) {
  using namespace enginehost::commands;
  return run_engine_run(argc, argv, add_from_index);
}
