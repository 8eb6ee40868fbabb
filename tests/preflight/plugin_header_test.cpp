#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#ifdef __linux__
#include "tests/support/posix/failing_reads.hpp"
#endif

namespace enginehost::preflight {
namespace {

class PluginHeader : public ::testing::Test {
 protected:
  Report judged(const std::filesystem::path& plugin) { return check(build(workshop_, plugin, {})); }
  faults::Workshop workshop_;
};

TEST_F(PluginHeader, AGoodPluginLoads) {
  const Report report = judged(workshop_.plugin("libengine_x.so"));
  EXPECT_EQ(report.verdict, Verdict::loads)
      << (report.diagnoses.empty() ? "" : explain::describe(report.diagnoses[0]));
}

TEST_F(PluginHeader, WithoutTheSymbolItIsR11WithItsExports) {
  const Report report = judged(workshop_.library("libother.so", "int some_function(void){return 1;}"));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-R11");
  EXPECT_THAT(report.diagnoses.front().values(Key::exports), ::testing::Contains("some_function"));
}

TEST_F(PluginHeader, AnotherMajorIsR12) {
  const Report report = judged(workshop_.plugin("libengine_x.so", "-DMAJOR=2"));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-R12");
  EXPECT_EQ(report.diagnoses.front().value(Key::plugin_abi), "2.0");
  EXPECT_THAT(explain::describe(report.diagnoses.front()),
              ::testing::ContainsRegex("fix +update EngineHost"));
}

TEST_F(PluginHeader, R12AnOlderMajorNeedsANewerPlugin) {
  const Report report = judged(workshop_.plugin("libengine_x.so", "-DMAJOR=0"));
  ASSERT_EQ(first_code(report), "EH-R12");
  const std::string reported = explain::describe(report.diagnoses.front());
  EXPECT_THAT(reported, ::testing::ContainsRegex("fix +use a newer version of the plugin"));
  EXPECT_THAT(reported, ::testing::Not(::testing::HasSubstr("update EngineHost")));
}

TEST_F(PluginHeader, ANewerHostFloorIsR12) {
  const Report report = judged(workshop_.plugin("libengine_x.so", "-DHOST_MINOR=7"));
  ASSERT_EQ(first_code(report), "EH-R12");
  EXPECT_EQ(report.diagnoses.front().value(Key::plugin_abi), "1.7");
  EXPECT_EQ(report.diagnoses.front().value(Key::host_abi), "1.0");
}

TEST_F(PluginHeader, AWrongMarkIsR11) {
  const Report report =
      judged(workshop_.library("libengine_x.so", "const char engine_plugin_v1[200] = \"NOTMINE\";"));
  EXPECT_EQ(first_code(report), "EH-R11");
}

// No code of it may run before this check.
TEST_F(PluginHeader, AFunctionOfThatNameIsR11) {
  const Report report = judged(workshop_.library("libengine_x.so", "int engine_plugin_v1(void){return 1;}"));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-R11");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), ::testing::HasSubstr("is a function"));
}

TEST_F(PluginHeader, AnObjectWithoutRoomForADescriptorIsR11) {
  for (const char* object :
       {"char engine_plugin_v1[40];", "const char engine_plugin_v1[40] = \"ENGPLUG\";"}) {
    const Report report = judged(workshop_.library("libengine_x.so", object));
    EXPECT_EQ(report.verdict, Verdict::fails);
    ASSERT_EQ(first_code(report), "EH-R11");
    EXPECT_THAT(explain::describe(report.diagnoses.front()), ::testing::HasSubstr("40 bytes long"));
  }
}

TEST_F(PluginHeader, ADescriptorFilledByCodeLeavesADoubt) {
  const Report report = judged(workshop_.library(
      "libengine_x.so",
      "char engine_plugin_v1[200]; __attribute__((constructor)) void f(void){engine_plugin_v1[0]=1;}"));
  EXPECT_EQ(report.verdict, Verdict::unsure);
  EXPECT_EQ(first_code(report), "EH-R11");
}

#ifdef __linux__
// No other check reads this part of the file.
TEST_F(PluginHeader, AnUnreadableFileIsNotTakenForADescriptorFilledByCode) {
  const auto plugin = workshop_.library(
      "libengine_x.so",
      "__asm__(\".data\\n.zero 300000\\n.byte 1\\n.globl engine_plugin_v1\\n.type "
      "engine_plugin_v1,%object\\n\"\n"
      "\".size engine_plugin_v1,400\\nengine_plugin_v1: .ascii \\\"ENGPLUG\\\"\\n.zero 393\\n.text\");\n");
  const auto reported = test::where_reads_fail_from(200'000, [&] {
    const Report report = judged(plugin);
    std::string all = name_of(report.verdict);
    for (const Diagnosis& one : report.diagnoses)
      all += " " + std::string(one.code_text()) + " " + std::string(one.value(Key::errno_));
    return all;
  });
  if (!reported) GTEST_SKIP() << "no system call can be made to fail here";
  EXPECT_EQ(*reported, "fails EH-F01 EIO");
}
#endif

}  // namespace
}  // namespace enginehost::preflight
