#include "tools/conformance/report.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include "tools/conformance/printable.hpp"
#include "tools/conformance/supervision.hpp"

namespace engineplugin {

const char* const copy_came_back =
    "a child that the plugin forked came back from its call and would go on as a second program; it was "
    "ended. "
    "A forked child calls exec() or _exit()";

void pass_lines_on(SharedProgress& progress) {
  const std::uint32_t end = progress.written;
  for (std::uint32_t at = progress.taken; at != end; at++)
    std::putchar(progress.lines[at % sizeof progress.lines]);
  progress.taken = end;
  std::fflush(stdout);
}

void Report::write(const std::string& line) {
  std::uint32_t at = progress_.written;
  for (const char c : line) {
    while (at - progress_.taken == sizeof progress_.lines) {
      progress_.written = at;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    progress_.lines[at++ % sizeof progress_.lines] = c;
  }
  progress_.written = at;
}

void Report::begin(const std::string& name) {
  end_copy();
  std::snprintf(progress_.check, sizeof progress_.check, "%s", printable_line(name).c_str());
  progress_.begun++;
}

bool Report::end(bool passed, const std::string& detail) {
  end_copy();
  const bool copies = progress_.copies.exchange(0) > 0;
  const bool good = passed && !copies;
  const std::string text = !copies ? detail : passed ? copy_came_back : detail + "; " + copy_came_back;
  write((good ? "ok   " : "FAIL ") + std::string(progress_.check) + ": " + printable_line(text) + "\n");
  if (!good) progress_.failures++;
  return passed;
}

}  // namespace engineplugin
