// An engine's log messages are untrusted text on their way to a terminal.
#include "host/commands/program.hpp"

#include <enginehost/engine_plugin.h>
#include <gtest/gtest.h>

namespace enginehost::commands {
namespace {

TEST(EngineLog, PrintsOneLineWithoutControlCharacters) {
  EXPECT_EQ(describe({ENGINE_LOG_ERROR, "cuda", "no driver", false}), "error: cuda: no driver");
  EXPECT_EQ(describe({ENGINE_LOG_INFO, "cuda", "no driver", true}), "info: cuda (in the probe): no driver");
  EXPECT_EQ(describe({ENGINE_LOG_DEBUG, "", "a\nwarning: b\x1b[2J", false}),
            "debug: engine: a warning: b\\x1b[2J");
  EXPECT_EQ(describe({35, "x", "between", false}), "warning: x: between");
}

}  // namespace
}  // namespace enginehost::commands
