#include "report.hpp"

namespace engineplugin {

void Report::begin(const std::string& name) {
  std::snprintf(progress_.check, sizeof progress_.check, "%s", name.c_str());
  progress_.begun++;
}

bool Report::end(bool passed, const std::string& detail) {
  std::fprintf(stream_, "%-4s %s: %s\n", passed ? "ok" : "FAIL", progress_.check, detail.c_str());
  std::fflush(stream_);  // the plugin may end this process next
  if (!passed) progress_.failures++;
  return passed;
}

}  // namespace engineplugin
