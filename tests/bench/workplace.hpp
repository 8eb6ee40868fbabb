// Folders of benchmarks below the build folder, commands that they run, and libraries that are made for them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace enginehost::bench {

// <build>/bench/NAME, made when missing and kept between runs.
std::filesystem::path workplace(const std::string& name);
// The same folder, emptied.
std::filesystem::path empty_workplace(const std::string& name);

// Runs a command to its end; false unless it exits with 0. `output`, where given, gets its standard output.
bool run(const std::vector<std::string>& command, std::string* output = nullptr,
         const std::vector<std::string>& environment = {});

// Whether a program of that name is on PATH.
bool has_program(const std::string& name);

// A program of the build tree: "bin/engine-info".
std::filesystem::path built(const std::string& path);

// Makes `count` small libraries, tree0.so … with versioned symbols, each needing up to five others through
// RUNPATH=$ORIGIN; tree0.so needs all of them, directly or not. Made once (gcc) and kept. Empty when they
// cannot be made.
std::filesystem::path library_tree(int count);

// The shared libraries of the system, largest first, up to `bytes` in total, without links and unreadable
// files.
std::vector<std::filesystem::path> system_libraries(std::uintmax_t bytes);

}  // namespace enginehost::bench
