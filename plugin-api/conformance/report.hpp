// One line per check, "ok   name: detail", "FAIL name: detail"; and the name of the check under way, in
// memory shared with the parent, so that a plugin that kills this process is blamed for the right one. The
// lines go the same way: what a plugin does to descriptors cannot reach them.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>

namespace engineplugin {

struct SharedProgress {
  char check[64];             // under way, or the last one
  std::atomic<int> begun;     // how many were begun: the parent's watch starts again with each
  std::atomic<int> failures;  // lines that said FAIL
  std::atomic<int> finished;  // 1 when all checks were made
  std::atomic<int> copies;    // forked by the plugin, come back from its call and ended; not told yet
  // Lines on their way to the parent, around in a ring. Both counts only grow, as unsigned numbers do.
  std::atomic<std::uint32_t> written, taken;
  char lines[1u << 16];
};

// In the parent: prints the lines that came since.
void pass_lines_on(SharedProgress& progress);

// What is said of such copies.
extern const char* const copy_came_back;

class Report {
 public:
  explicit Report(SharedProgress& progress) : progress_(progress) {}

  // Names the check whose code runs next.
  void begin(const std::string& name);
  // Ends it with a line. A copy of the process that came back meanwhile makes that a FAIL; what is given back
  // is about the check alone, for the others can be made all the same.
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
