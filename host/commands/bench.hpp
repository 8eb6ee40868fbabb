// Times two operations on each device: a vector addition, which memory bounds, and a matrix product, which
// arithmetic bounds.
// gnuplot, which is searched in PATH, draws the results.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "host/attempt/attempt.hpp"

namespace enginehost::commands {

struct BenchReport {
  struct Line {
    std::string operation;  // "Add", "MatMul"
    std::string shape;      // "99000000", "2048 x 2048"
    std::string device;
    double milliseconds = 0;  // median of the runs, data on the device already
    double rate = 0;          // GB/s moved, or GFLOP/s
    std::string unit;         // of the rate
    double transfer_ms = 0;   // inputs to the device and the result back; 0 on cpu
    double times_cpu = 0;     // cpu's median divided by this one; 0 when there is no cpu
    std::optional<Diagnosis> failure;
  };
  std::vector<Line> lines;
};

// Adds 9.9e7 floats (three arrays of 0.4 GB on the device, one of them also here) and multiplies 2048 x 2048
// matrices: bench_runs runs of each, after one to warm up. An engine without operations gets lines with
// EH-S18.
constexpr int bench_runs = 5;
BenchReport run_bench(open::Opened& opened, const std::optional<CancelToken>& cancel);
std::string describe(const BenchReport& report);
Json to_json(const BenchReport& report);

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
