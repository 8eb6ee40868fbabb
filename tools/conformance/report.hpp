// One line for each check: "ok   name: detail" or "FAIL name: detail". The name of the current check is in
// memory shared with the parent, so that a crash is attributed to the right check. The lines go through the
// same memory, where a plugin's changes to descriptors cannot affect them.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace engineplugin {

struct SharedProgress {
  char check[64];             // the current or last check
  std::atomic<int> begun;     // checks begun: the parent's timeout starts again with each
  std::atomic<int> failures;  // lines with FAIL
  std::atomic<int> finished;  // 1 when all checks were made
  std::atomic<int> copies;    // forked by the plugin, returned from its call and ended; not reported yet
  // Ring buffer of lines for the parent. Both counts only grow, as unsigned numbers that wrap.
  std::atomic<std::uint32_t> written, taken;
  char lines[1u << 16];
};

// Runs in the parent: prints the lines that have arrived.
void pass_lines_on(SharedProgress& progress);

// Message about such copies.
extern const char* const copy_came_back;

class Report {
 public:
  explicit Report(SharedProgress& progress) : progress_(progress) {}

  // Names the check whose code runs next.
  void begin(const std::string& name);
  // Ends it with a line. If a forked copy of the process returned meanwhile, the line is a FAIL. The result
  // is that of the check alone, because the other checks can still run.
  bool end(bool passed, const std::string& detail);
  // Ends it at the first problem; without one, with "ok name: detail".
  bool end(const std::string& problem, const std::string& detail) {
    return problem.empty() ? end(true, detail) : end(false, problem);
  }
  bool end(const char* problem, const std::string& detail) = delete;  // would become a bool
  void finish() { progress_.finished = 1; }

 private:
  // Waits for the parent to make room.
  void write(const std::string& line);
  SharedProgress& progress_;
};

}  // namespace engineplugin
