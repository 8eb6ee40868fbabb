#include "report.hpp"

#include "supervision.hpp"

namespace engineplugin {

const char* const copy_came_back =
    "a child that the plugin forked came back from its call and would go on as a second program; it was "
    "ended. "
    "A forked child calls exec() or _exit()";

void Report::begin(const std::string& name) {
  end_copy();
  std::snprintf(progress_.check, sizeof progress_.check, "%s", name.c_str());
  progress_.begun++;
}

bool Report::end(bool passed, const std::string& detail) {
  end_copy();
  const bool copies = progress_.copies.exchange(0) > 0;
  const bool good = passed && !copies;
  const std::string told = !copies ? detail : passed ? copy_came_back : detail + "; " + copy_came_back;
  std::fprintf(stream_, "%-4s %s: %s\n", good ? "ok" : "FAIL", progress_.check, told.c_str());
  std::fflush(stream_);  // the plugin may end this process next
  if (!good) progress_.failures++;
  return passed;
}

}  // namespace engineplugin
