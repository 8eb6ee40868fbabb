// Times two operations on each device: a vector add, which memory bounds, and a matrix product, which
// arithmetic does.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "host/open/attempt.hpp"

namespace enginehost::commands {

struct BenchReport {
  struct Line {
    std::string operation;  // "Add", "MatMul"
    std::string shape;      // "99000000", "2048 x 2048"
    std::string device;
    double milliseconds = 0;  // median of the runs, data on the device already
    double rate = 0;          // GB/s moved, or GFLOP/s
    std::string unit;         // of the rate
    double transfer_ms = 0;   // inputs to the device and the answer back; 0 on cpu
    double times_cpu = 0;     // cpu's median divided by this one; 0 when there is no cpu
    std::optional<Diagnosis> failure;
  };
  std::vector<Line> lines;
};

// Adds 9.9e7 floats (1.2 GB in three arrays on the device, 0.4 GB here to fill them from) and multiplies 2048
// x 2048 matrices, five runs each after one to warm up. An engine without operations gets a line that says
// so.
BenchReport run_bench(open::Opened& opened, const std::optional<CancelToken>& cancel);
std::string describe(const BenchReport& report);
Json to_json(const BenchReport& report);

}  // namespace enginehost::commands
