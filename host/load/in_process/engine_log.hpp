// What an engine's plugin logs, on its way to whoever asked for it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "host/load/in_process/listeners.hpp"

namespace enginehost::load {

struct LogMessage {
  std::int32_t level = 0;           // ENGINE_LOG_*
  std::string_view topic, message;  // a stranger's words; good until the listener returns
  bool in_probe = false;            // said in the child that tried the build
};

// Listeners are called on the plugin's threads, possibly at the same time, and must not throw.
using EngineLog = Listeners<LogMessage>;

// A message that is kept.
struct LogLine {
  std::int32_t level = 0;
  std::string topic, message;
};

}  // namespace enginehost::load
