// engine-run with the flags of tools/.
#include "host/commands/engine_run.hpp"
#include "host/commands/program.hpp"
#include "tools/commands/from_index.hpp"

int enginehost::commands::run_program(int argc, char** argv) {
  return run_engine_run(argc, argv, add_from_index);
}
