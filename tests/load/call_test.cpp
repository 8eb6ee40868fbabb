#include "host/load/in_process/call.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "host/load/in_process/reported_text.hpp"

namespace enginehost::load {
namespace {

TEST(CallTest, OkIsNoErrorWhateverWasReported) {
  Call call;
  call.get()->fail(call.get(), ENGINE_UNAVAILABLE, "cuda", 100, "no device, used the processor");
  EXPECT_TRUE(call.finish(ENGINE_OK));
  EXPECT_EQ(call.reports().size(), 1u);
}

TEST(CallTest, TheFirstReportIsTheCauseAndDetailsAreFacts) {
  Call call;
  EXPECT_EQ(call.get()->fail(call.get(), ENGINE_CORRUPT, "zlib", -3, "bad block"), ENGINE_CORRUPT);
  call.get()->detail(call.get(), "path", "/m.onnx");
  const auto result = call.finish(ENGINE_CORRUPT);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-E01");
  EXPECT_EQ(result.error().value(Key::status), "ENGINE_CORRUPT");
  EXPECT_EQ(result.error().value(Key::native), "-3");
  EXPECT_EQ(result.error().value(Key::path), "/m.onnx");
}

TEST(CallTest, NullStringsAreTakenAsEmpty) {
  Call call;
  call.get()->fail(call.get(), ENGINE_INTERNAL, nullptr, 0, nullptr);
  call.get()->detail(call.get(), nullptr, nullptr);
  const auto result = call.finish(ENGINE_INTERNAL);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().value(Key::status), "ENGINE_INTERNAL");
}

TEST(CallTest, UnterminatedTextsAreCutAndMarked) {
  // Nothing may be read beyond this size: there is no zero byte.
  const std::vector<char> field(longest_field, 'x'), message(longest_message, 'y');
  Call call;
  call.get()->fail(call.get(), ENGINE_INTERNAL, field.data(), 1, message.data());
  call.get()->detail(call.get(), field.data(), field.data());
  const std::string expected = std::string(longest_field, 'x') + " [cut]";
  ASSERT_EQ(call.reports().size(), 1u);
  EXPECT_EQ(call.reports()[0].origin, expected);
  EXPECT_EQ(call.reports()[0].message, std::string(longest_message, 'y') + " [cut]");
  ASSERT_EQ(call.details().size(), 1u);
  EXPECT_EQ(call.details()[0].second, expected);
  std::size_t stage = 0;
  CallOptions options;
  options.progress = [&](std::uint64_t, std::uint64_t, std::string_view text) { stage = text.size(); };
  Call working(options);
  working.get()->progress(working.get(), 1, 2, field.data());
  EXPECT_EQ(stage, longest_field);
}

TEST(CallTest, ACutTextEndsWithAWholeCharacter) {
  EXPECT_EQ(reported_text("ab\xc3\xa9"
                          "cd",
                          3),
            "ab [cut]");
  EXPECT_EQ(reported_text("a\xe2\x82\xac"
                          "d",
                          3),
            "a [cut]");
  EXPECT_EQ(reported_text("abc", 4), "abc");
  EXPECT_EQ(reported_text(nullptr, 4), "");
}

TEST(CallTest, ThePluginSeesCancelationAndDeadline) {
  CallOptions options;
  options.cancel = CancelToken();
  const CancelToken token = *options.cancel;
  Call call(options);
  EXPECT_EQ(call.get()->is_cancelled(call.get()), 0);
  token.cancel();
  EXPECT_NE(call.get()->is_cancelled(call.get()), 0);
  const auto result = call.finish(ENGINE_CANCELLED);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-P10");

  CallOptions short_time;
  short_time.timeout = std::chrono::milliseconds(1);
  Call late(short_time);
  EXPECT_EQ(late.get()->timeout_ms, 1u);
  while (late.get()->is_cancelled(late.get()) == 0) {
  }
  EXPECT_EQ(late.finish(ENGINE_CANCELLED).error().value(Key::reason), "the time was over");
}

TEST(CallTest, AProgressCallbackThatThrowsIsContained) {
  CallOptions options;
  std::uint64_t seen = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t, std::string_view) {
    seen = done;
    throw std::runtime_error("no");
  };
  Call call(options);
  call.get()->progress(call.get(), 5, 10, "compile");
  EXPECT_EQ(seen, 5u);
}

TEST(CallTest, ReportsInALoopDoNotFillTheMemory) {
  Call call;
  for (int i = 0; i < 10000; ++i) call.get()->fail(call.get(), ENGINE_INTERNAL, "", i, "again");
  EXPECT_LE(call.reports().size(), 256u);
}

}  // namespace
}  // namespace enginehost::load
