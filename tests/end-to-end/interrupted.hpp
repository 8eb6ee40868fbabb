// A command that a person interrupts while it runs.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/child_process.hpp"

namespace enginehost::test {

class Running {
 public:
  // What it prints to standard output goes to that file. Of the request, arguments and environment count.
  // Throws when it cannot be started.
  Running(const ChildRequest& request, const std::filesystem::path& output);
  ~Running();  // ends it
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // As Ctrl-C does.
  void interrupt();
  // As a terminal does that closes, perhaps twice: the system tells it, and the shell.
  void hang_up();
  // Its status, or nothing while it runs.
  std::optional<int> ended_within(std::chrono::milliseconds time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::test
