// Which code runs on which GPU.
#include "host/platform/platform.hpp"

#include <gtest/gtest.h>

namespace enginehost::platform {
namespace {

TEST(ComputeCapability, DecidesWhichCodeRunsOnWhichDevice) {
  const auto runs = [](bool (*rule)(const Capability&, const Capability&), const char* code,
                       const char* device) {
    return rule(*parse_capability(code), *parse_capability(device));
  };
  EXPECT_TRUE(runs(sass_runs_on, "8.6", "8.6"));
  EXPECT_TRUE(runs(sass_runs_on, "8.6", "8.9"));
  EXPECT_FALSE(runs(sass_runs_on, "8.9", "8.6"));
  EXPECT_FALSE(runs(sass_runs_on, "8.6", "9.0"));
  EXPECT_TRUE(runs(sass_runs_on, "9.0a", "9.0"));
  EXPECT_FALSE(runs(sass_runs_on, "10.0a", "10.3"));
  EXPECT_TRUE(runs(sass_runs_on, "10.0f", "10.3"));
  EXPECT_FALSE(runs(sass_runs_on, "10.0f", "12.0"));
  // Orin is no later Ampere card, and no card runs Orin's code; PTX crosses over.
  EXPECT_TRUE(runs(sass_runs_on, "8.7", "8.7"));
  EXPECT_FALSE(runs(sass_runs_on, "8.6", "8.7"));
  EXPECT_FALSE(runs(sass_runs_on, "8.7", "8.9"));
  EXPECT_FALSE(runs(sass_runs_on, "7.0", "7.2"));
  EXPECT_TRUE(runs(ptx_runs_on, "8.0", "8.7"));
  EXPECT_TRUE(runs(ptx_runs_on, "8.0", "12.0"));
  EXPECT_FALSE(runs(ptx_runs_on, "12.0", "10.3"));
  EXPECT_FALSE(runs(ptx_runs_on, "9.0a", "10.0"));
  EXPECT_FALSE(runs(ptx_runs_on, "10.0f", "12.0"));
  EXPECT_FALSE(parse_capability("sm_86"));
}

}  // namespace
}  // namespace enginehost::platform
