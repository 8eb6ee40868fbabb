// Draws the figures of a measurement with gnuplot, a program of its own that is looked up in PATH.
#pragma once
#include <filesystem>

#include "host/commands/bench.hpp"

namespace enginehost::commands {

// Whether a picture could be drawn into that file, asked before anything is measured: EH-P48 when its name
// ends neither in .png nor in .svg, or there is no gnuplot.
Result<void> can_plot(const std::filesystem::path& file);

// One panel for each operation, one bar for each device: milliseconds of computing, and on top of them those
// of the transfers. Lines that failed are left out. The file appears whole or not at all, replacing one that
// was there. EH-P48 with gnuplot's own words, EH-C.. when the file cannot be written.
Result<void> plot(const BenchReport& report, const std::filesystem::path& file);

}  // namespace enginehost::commands
