#include "host/open/crash.hpp"

#include <ctime>

#include "host/explain/explain.hpp"

namespace enginehost::open {
namespace {

std::string time_text(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

}  // namespace

history::Failure failure_of(const history::Crash& crash) {
  constexpr const char* source = "the sentinel that the process left";
  Diagnosis diagnosis = diagnose("EH-R02");
  // The program's path; its build id tells it from other releases, not people.
  diagnosis.with("stage", crash.phase, source)
      .with("program", crash.program.substr(0, crash.program.rfind(' ')), source)
      .with("process", std::to_string(crash.pid), source)
      .with("began", time_text(crash.started), source)
      .with("build", crash.build, source);
  history::Failure failure;
  failure.build = crash.build;
  failure.digest = crash.digest;
  failure.artifacts_digest = crash.artifacts_digest;
  failure.category = history::Category::crash;
  failure.in_host = true;
  failure.program = crash.program;
  failure.boot = crash.boot;
  failure.diagnosis = explain::to_json(diagnosis);
  return failure;
}

}  // namespace enginehost::open
