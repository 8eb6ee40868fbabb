// Times two operations on each device: a vector addition, which memory bounds, and a matrix product, which
// arithmetic bounds.
#pragma once
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

}  // namespace enginehost::commands
