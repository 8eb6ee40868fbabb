// The meaning of the driver query's lines and of its end, on every system.
#include "host/platform/parts.hpp"

#include <gtest/gtest.h>

namespace enginehost::platform {
namespace {

constexpr std::chrono::milliseconds deadline{15'000};

TEST(DriverAnswer, IsReadFromTheLinesWithItsNonce) {
  const DriverAnswer answer = read_driver_answer(
      R"({"nonce":"guess","cuda":{"init":{"code":999}}})"
      "\n"
      R"({"nonce":"n","cuda":{"library":{"path":"C:\\Windows\\System32\\nvcuda.dll"},"driver_version":{"code":0,"value":13020}}})"
      "\n"
      R"({"nonce":"n","cuda":{"init":{"code":0},"devices":[{"index":0,"name":"One","compute_capability":"12.0"}]}})"
      "\n"
      R"({"nonce":"n","cuda":{"devices":[{"index":1,"name":"Two"}]},"done":true})"
      "\n",
      "n");
  EXPECT_TRUE(answer.complete);
  Cuda cuda;
  cuda.library = Fact<Installed>::known({"595.79", "C:\\Windows\\System32\\nvcuda.dll", ""}, "System32");
  cuda.visible_devices = Fact<std::string>::absent("CUDA_VISIBLE_DEVICES");
  apply_driver_answer(answer.document, "", cuda);
  EXPECT_EQ(cuda.driver_cuda.value(), "13.2");
  EXPECT_EQ(cuda.driver_cuda.source(), "cuDriverGetVersion of C:\\Windows\\System32\\nvcuda.dll");
  EXPECT_EQ(cuda.init.value(), "0");
  ASSERT_EQ(cuda.devices.value().size(), 2u);
  EXPECT_EQ(cuda.devices.value()[1].name, "Two");
}

TEST(DriverAnswer, WithoutAnyLineOfTheQueryIsNone) {
  EXPECT_TRUE(read_driver_answer("no json\n{\"nonce\":\"guess\"}\n", "n").document.is_null());
}

TEST(DriverAnswer, IfMissingIsExplainedByTheEndOfTheQuery) {
  ChildOutcome outcome;
  outcome.exit_code = 0;
  EXPECT_EQ(why_no_answer(outcome, deadline), "the probe ended without an answer");
  outcome.exit_code = 7;
  outcome.error = "cannot do that\n";
  EXPECT_EQ(why_no_answer(outcome, deadline), "the probe ended with status 7: cannot do that");
  outcome.signal = 11;
  EXPECT_EQ(why_no_answer(outcome, deadline),
            "the driver's library crashed the probe (" + signal_name(11) + ")");
  outcome.exception = 0xC0000005u;
  EXPECT_EQ(why_no_answer(outcome, deadline),
            "the driver's library crashed the probe (exception 0xC0000005)");
  outcome.timed_out = true;
  EXPECT_EQ(why_no_answer(outcome, deadline), "the driver did not answer in 15 s");
}

TEST(DriverAnswer, VersionsAreMajorAndMinor) {
  EXPECT_EQ(cuda_version_text(12020), "12.2");
  EXPECT_EQ(cuda_version_text(11080), "11.8");
}

}  // namespace
}  // namespace enginehost::platform
