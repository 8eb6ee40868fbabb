#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

TEST(Inspect, AnyLibraryIsCheckedWithoutBeingAPlugin) {
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

TEST(Inspect, TheDocumentHoldsTheFactsOfTheFile) {
  faults::Workshop workshop;
  const auto file =
      workshop.library("libx.so", "__thread int t;int f(void){return t;}",
                       "-Wl,-soname,libx.so.4 -Wl,-rpath,/opt/x -Wl,--enable-new-dtags -Wl,-z,execstack");
  const auto report = inspect(file, false, linker::describe_this_machine());
  ASSERT_TRUE(report);
  const Json json = to_json(*report, &explain::to_json)["binary"];
  EXPECT_EQ(json["soname"].as_string(), "libx.so.4");
  EXPECT_EQ(json["type"].as_string(), "shared library");
  EXPECT_EQ(json["tls_size"].as_integer(), 4);
  EXPECT_EQ(json["runpath"].as_array().at(0).as_string(), "/opt/x");
  EXPECT_EQ(json["flags"].as_array().at(0).as_string(), "executable stack");
  EXPECT_EQ(json["size"].as_integer(), static_cast<std::int64_t>(std::filesystem::file_size(file)));
  EXPECT_TRUE(json["pe"].is_null());
  EXPECT_TRUE(json["macho"].is_null());
  const auto lines = to_lines(report->facts);
  EXPECT_THAT(lines, testing::Contains("named libx.so.4"));
  EXPECT_THAT(lines, testing::Contains("searches (RUNPATH) /opt/x"));
  EXPECT_THAT(lines, testing::Contains("thread-local data 4 bytes"));
}

TEST(Inspect, AForeignLibraryIsCheckedForItsOwnSystem) {
  // A universal file whose slice has only a header of 28 bytes: a dylib that needs nothing.
  const auto slice = [](char subtype) {
    std::string head(4096, '\0');
    head.replace(
        0, 16, std::string("\xcf\xfa\xed\xfe\x0c\0\0\x01", 8) + subtype + std::string("\0\0\0\x06\0\0\0", 7));
    return head;
  };
  std::string universal(4096, '\0');
  universal.replace(0, 48,
                    std::string("\xca\xfe\xba\xbe\0\0\0\x02"
                                "\x01\0\0\x0c\0\0\0\0\0\0\x10\0\0\0\x10\0\0\0\0\x0c"
                                "\x01\0\0\x0c\0\0\0\x02\0\0\x20\0\0\0\x10\0\0\0\0\x0c",
                                48));
  faults::Workshop workshop;
  const auto file = workshop.file("x.dylib", universal + slice('\0') + slice('\2'));
  const auto report = inspect(file, false, linker::describe_this_machine());
  ASSERT_TRUE(report);
  const Json json = to_json(*report, &explain::to_json)["binary"];
  EXPECT_EQ(json["machine"].as_string(), "aarch64+arm64e");
  ASSERT_EQ(json["slices"].as_array().size(), 2u);
  EXPECT_EQ(json["slices"].as_array()[1]["machine"].as_string(), "arm64e");
  EXPECT_EQ(json["slices"].as_array()[1]["offset"].as_integer(), 8192);
  EXPECT_EQ(json["slices"].as_array()[1]["macho"]["file_type"].as_string(), "dylib");
  EXPECT_FALSE(json["code_signed"].as_bool(true));
  EXPECT_THAT(to_lines(report->facts), testing::Contains("slice for arm64e"));
}

// A record of a machine with this processor and glibc, changed by the parameters.
platform::Platform recorded(const std::string& os, const std::string& arch, platform::Libc libc) {
  platform::Platform platform;
  platform.os = platform::Fact<std::string>::known(os, "record");
  platform.arch = platform::Fact<std::string>::known(arch, "record");
  platform.libc = os == "linux" ? platform::Fact<platform::Libc>::known(std::move(libc), "record")
                                : platform::Fact<platform::Libc>::absent("record");
  return platform;
}

TEST(Inspect, ALibraryIsCheckedForTheRecordedMachine) {
  faults::Workshop workshop;
  const auto file = workshop.library("libx.so", "#include <stdio.h>\nint f(void){return puts(\"x\");}");
  const linker::Machine here = linker::describe_this_machine();
  const auto reported_for = [&](const platform::Platform& platform) {
    const auto report = inspect(file, false, here, &platform);
    EXPECT_TRUE(report);
    EXPECT_EQ(report->notes.size(), 1u);
    EXPECT_EQ(report->verdict == Verdict::fails, !report->diagnoses.empty());
    return first_code(*report);
  };
  const platform::Libc newest{"glibc", "2.99"};
  EXPECT_EQ(reported_for(recorded("linux", here.architecture, newest)), "");
  EXPECT_EQ(reported_for(recorded("linux", test::other_architecture, newest)), "EH-L04");
  EXPECT_EQ(reported_for(recorded("linux", here.architecture, {"musl", "1.2.4"})), "EH-L29");
  EXPECT_EQ(reported_for(recorded("linux", here.architecture, {"glibc", "2.1"})), "EH-L08");
  // An older C library that has what the file needs, whatever the libraries of this machine need.
  EXPECT_EQ(reported_for(recorded("linux", here.architecture, {"glibc", "2.17"})), "");
  EXPECT_EQ(reported_for(recorded("windows", here.architecture, {})), "EH-F09");
  EXPECT_EQ(reported_for(recorded("macos", here.architecture, {})), "EH-F09");
}

TEST(Inspect, WithoutLibrariesOfTheTargetTheResultIsUnknown) {
  faults::Workshop workshop;
  const auto file = workshop.library("libx.so", "int f(void){return 1;}");
  workshop.make_foreign(file);
  platform::Platform platform = recorded("linux", test::other_architecture, {"glibc", "2.36"});
  platform.page_size = platform::Fact<std::uint64_t>::known(4096, "record");
  const auto report = inspect(file, false, linker::describe_this_machine(), &platform);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::unsure);
  EXPECT_TRUE(report->diagnoses.empty());
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_THAT(report->notes.front(), testing::HasSubstr("were not searched"));
  EXPECT_THAT(to_json(*report, &explain::to_json)["notes"].as_array().front().as_string(),
              testing::HasSubstr("this machine is "));
}

TEST(Inspect, AMissingFileIsAnError) {
  const auto report = inspect("/nonexistent/libx.so", false, linker::describe_this_machine());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "EH-F01");
}

}  // namespace
}  // namespace enginehost::preflight
