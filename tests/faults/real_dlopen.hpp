// dlopen's own answer for files of this machine, in a child with a deadline (open_child.c).
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace enginehost::faults {

struct DlopenAnswer {
  enum class End { opened, refused, killed, ended, hung };
  End end = End::ended;
  std::string said;   // refused: dlerror
  int signal = 0;     // killed
  int exit_code = 0;  // ended: the process exited with this status; the test did not end it
  std::string error_output;
  bool opened() const { return end == End::opened; }
  // "opened", "refused: …", "SIGSEGV", "exit status 3", "no end": for messages.
  std::string text() const {
    switch (end) {
      case End::opened:
        return "opened";
      case End::refused:
        return "refused: " + said;
      case End::killed:
        return signal_name(signal);
      case End::ended:
        return "exit status " + std::to_string(exit_code);
      case End::hung:
        return "no end";
    }
    return "no end";
  }
};

// Opens `files` in this order in one process, with RTLD_NOW or (`lazy`) RTLD_LAZY. `environment` as in
// ChildRequest. Any thread; blocks until the child ended, or until `deadline` and a little more.
inline DlopenAnswer ask_dlopen(const std::filesystem::path& child,
                               const std::vector<std::filesystem::path>& files,
                               std::chrono::milliseconds deadline,
                               const std::vector<std::string>& environment = {}, bool lazy = false) {
  ChildRequest request;
  request.argv = {child.native()};
  if (lazy) request.argv.emplace_back("--lazy");
  for (const std::filesystem::path& file : files) request.argv.push_back(file.native());
  request.environment = environment;
  request.private_channel = true;
  request.discard_output = true;
  request.deadline = deadline;
  DlopenAnswer answer;
  const Result<ChildOutcome> outcome = run_child(request);
  if (!outcome) {
    answer.exit_code = 127;
    answer.error_output = "the child cannot be started";
    return answer;
  }
  answer.error_output = outcome->error;
  constexpr std::string_view refused = "refused\t";
  // Success needs the word and the status, because a constructor may write anywhere and may end the process
  // with 0.
  if (outcome->timed_out) {
    answer.end = DlopenAnswer::End::hung;
  } else if (outcome->signal != 0) {
    answer.end = DlopenAnswer::End::killed;
    answer.signal = outcome->signal;
  } else if (outcome->exit_code == 0 && outcome->channel == "opened") {
    answer.end = DlopenAnswer::End::opened;
  } else if (outcome->exit_code == 1 && outcome->channel.starts_with(refused)) {
    answer.end = DlopenAnswer::End::refused;
    answer.said = outcome->channel.substr(refused.size());
  } else {
    answer.exit_code = outcome->exit_code;
  }
  return answer;
}

}  // namespace enginehost::faults
