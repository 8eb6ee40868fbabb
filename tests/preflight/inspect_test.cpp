#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

TEST(Inspect, AnyLibraryIsJudgedWithoutBeingAPlugin) {
  faults::Workshop workshop;
  const auto file = workshop.library("libx.so", "#include <stdio.h>\nint f(void){return puts(\"x\");}");
  const auto report = inspect(file, true, linker::describe_this_machine());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::loads);
  const Json json = to_json(*report, &explain::to_json);
  EXPECT_EQ(json["format"].as_integer(), 1);
  EXPECT_EQ(json["kind"].as_string(), "elf");
  EXPECT_EQ(json["verdict"].as_string(), "loads");
  EXPECT_TRUE(json["diagnosis"].is_null());
  EXPECT_TRUE(json["missing"].as_array().empty());
  EXPECT_FALSE(json["closure"].as_array().empty());
}

TEST(Inspect, TheDocumentNamesWhatIsMissing) {
  faults::Workshop workshop;
  const auto gone = workshop.library("libgone.so.3", "int g(void){return 1;}", "-Wl,-soname,libgone.so.3");
  const auto file = workshop.library("libx.so", "int g(void);int f(void){return g();}",
                                     "-L" + faults::quoted(workshop.folder()) + " -l:libgone.so.3");
  workshop.remove(gone);
  const auto report = inspect(file, false, linker::describe_this_machine());
  ASSERT_TRUE(report);
  const Json json = to_json(*report, &explain::to_json);
  EXPECT_EQ(json["verdict"].as_string(), "fails");
  ASSERT_EQ(json["missing"].as_array().size(), 1u);
  EXPECT_EQ(json["missing"].as_array()[0]["name"].as_string(), "libgone.so.3");
  EXPECT_EQ(json["missing"].as_array()[0]["needed_by"].as_string(), file.native());
  EXPECT_FALSE(json["missing"].as_array()[0]["searched"].as_array().empty());
  EXPECT_EQ(json["diagnosis"]["code"].as_string(), "EH-L01");
}

TEST(Inspect, AWindowsLibraryIsF09) {
  faults::Workshop workshop;
  const auto file = workshop.library_with("x86_64-w64-mingw32-gcc", "x.dll", "int f(void){return 1;}", "");
  if (file.empty()) GTEST_SKIP() << "the Windows cross compiler is not installed";
  const auto report = inspect(file, false, linker::describe_this_machine());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind, binary::Kind::pe);
  EXPECT_NE(find(report->diagnoses, "EH-F09"), nullptr);
}

TEST(Inspect, AFileThatIsNotThereIsAnError) {
  const auto report = inspect("/nonexistent/libx.so", false, linker::describe_this_machine());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-F01");
}

}  // namespace
}  // namespace enginehost::preflight
