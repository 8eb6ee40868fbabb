// engine-run: runs one model with arrays from .npy files, and writes the results to .npy files.
#pragma once

namespace enginehost::commands {

// Runs the program and returns its status. Call it from the main thread.
int run_engine_run(int argc, char** argv);

}  // namespace enginehost::commands
