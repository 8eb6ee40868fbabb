// Log messages of an engine's plugin, on their way to the application's listeners.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "host/load/in_process/listeners.hpp"

namespace enginehost::load {

struct LogMessage {
  std::int32_t level = 0;           // ENGINE_LOG_*
  std::string_view topic, message;  // the plugin's text; valid until the listener returns
  bool in_probe = false;            // logged in the child process that probed the build
};

// Listeners are called on the plugin's threads, possibly concurrently, and must not throw.
using EngineLog = Listeners<LogMessage>;

// An owned copy of a message.
struct LogLine {
  std::int32_t level = 0;
  std::string topic, message;
};

}  // namespace enginehost::load
