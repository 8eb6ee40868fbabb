// The time that bench_open_child measured in a process of its own.
#pragma once
#include <string>
#include <vector>

#include "tests/bench/compare.hpp"

namespace enginehost::bench {

Turn child_time(std::vector<std::string> arguments);

// Starts a program and waits for its end: the cost of each process. False unless it exits with 0.
bool spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});

}  // namespace enginehost::bench
