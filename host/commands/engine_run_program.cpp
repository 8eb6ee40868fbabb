// engine-run without the flags of tools/, in builds without them.
#include "host/commands/engine_run.hpp"
#include "host/commands/program.hpp"

int enginehost::commands::run_program(int argc, char** argv) { return run_engine_run(argc, argv, nullptr); }
