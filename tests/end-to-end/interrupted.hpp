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
  // Its standard output goes to that file. Only arguments and environment of the request are used. Throws
  // when the command cannot be started.
  Running(const ChildRequest& request, const std::filesystem::path& output);
  ~Running();  // ends it
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Sends what Ctrl-C sends.
  void interrupt();
  // Sends what a closing terminal sends, once from the system and perhaps again from the shell.
  void hang_up();
  // Its status; nothing while it runs.
  std::optional<int> ended_within(std::chrono::milliseconds time);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::test
