// engine-run: runs one model with arrays from .npy files, and writes the results to .npy files.
// tools/commands adds --from-index.
#pragma once
#include "host/commands/derived_builds.hpp"

namespace enginehost::commands {

// Runs the program and returns its status. `add_derived` may be null. Call it from the main thread.
int run_engine_run(int argc, char** argv, AddDerivedBuilds add_derived);

}  // namespace enginehost::commands
