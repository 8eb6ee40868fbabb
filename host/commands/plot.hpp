// Draws the results of --bench with gnuplot, which is searched in PATH.
#pragma once
#include <filesystem>
#include <string>

#include "host/commands/bench.hpp"

namespace enginehost::commands {

// Checks, before anything is measured, that a picture can be drawn into that file. Errors: EH-P48 if its name
// ends neither in .png nor in .svg, or if there is no gnuplot.
Result<void> can_plot(const std::filesystem::path& file);

// The two lines above the panels.
struct PlotTitle {
  std::string build;    // "onnxruntime 1.27.0 cpu"
  std::string machine;  // "AMD EPYC 7763, 8 cores, 2026-11-21"
};

// Draws one panel per operation with one bar per device: the milliseconds of computing, and above them those
// of the transfers. Omits lines that failed, and transfers if all of them are 0. Replaces the file as a
// whole. Errors: EH-P48 with gnuplot's message, or if the file cannot be written.
Result<void> plot(const BenchReport& report, const PlotTitle& title, const std::filesystem::path& file);

}  // namespace enginehost::commands
