#include "host/commands/engine_log.hpp"

#include <enginehost/engine_plugin.h>

#include "base/printable.hpp"
#include "host/commands/say.hpp"

namespace enginehost::commands {
namespace {

const char* name_of_level(std::int32_t level) {
  return level >= ENGINE_LOG_ERROR     ? "error"
         : level >= ENGINE_LOG_WARNING ? "warning"
         : level >= ENGINE_LOG_INFO    ? "info"
                                       : "debug";
}

}  // namespace

std::string describe(const load::LogMessage& message) {
  std::string line = std::string(name_of_level(message.level)) + ": " +
                     (message.topic.empty() ? std::string("engine") : printable_line(message.topic));
  if (message.in_probe) line += " (in the probe)";
  return line + ": " + printable_line(message.message);
}

void log_to_standard_error(open::AttemptOptions& attempt, transfer::ProgressBar& bar, bool quiet) {
  attempt.log = std::make_shared<load::EngineLog>();
  attempt.log->add([&bar](const load::LogMessage& message) {
    bar.clear();
    say_aside("%s\n", describe(message).c_str());
  });
  if (quiet) attempt.log_level = ENGINE_LOG_ERROR;
}

}  // namespace enginehost::commands
