// A recorded machine applied to a library and its closure: the rules that depend on the C library's version,
// the page size and the driver are the record's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Value>
platform::Fact<Value> fact(Value value) {
  return platform::Fact<Value>::known(std::move(value), "record");
}

class Recorded : public ::testing::Test {
 protected:
  static platform::Platform machine(const std::string& libc_version,
                                    const std::string& arch = test::architecture,
                                    const std::string& libc = "glibc") {
    platform::Platform platform;
    platform.os = fact<std::string>("linux");
    platform.arch = fact(arch);
    platform.libc = fact(platform::Libc{libc, libc_version});
    return platform;
  }
  static Report judged(const std::filesystem::path& file, const platform::Platform& platform,
                       bool symbols = false, const std::string& library_path = {}) {
    linker::Machine here = linker::describe_this_machine();
    if (!library_path.empty()) {
      here.library_path = {library_path};
      here.library_path_text = library_path;
    }
    auto report = inspect(file, symbols, here, &platform);
    EXPECT_TRUE(report);
    return report ? std::move(*report) : Report();
  }
  // A library that needs another one, which lies beside it.
  std::filesystem::path user_of(const std::filesystem::path& library) {
    return workshop_.library("libuser.so", "int user(void){return 1;}",
                             "-Wl,--no-as-needed " + faults::quoted(library) + " -Wl,-rpath,'$ORIGIN'");
  }
  faults::Workshop workshop_;
};

constexpr const char* one = "int one(void){return 1;}";

TEST_F(Recorded, L20AnExecutableStackIsJudgedByItsGlibc) {
  const auto file = workshop_.library("libstack.so", one, "-Wl,-z,execstack");
  const auto user = user_of(file);
  for (const auto& opened : {file, user}) {
    for (const char* version : {"2.17", "2.31", "2.40"}) {
      const Report report = judged(opened, machine(version));
      EXPECT_EQ(report.verdict, Verdict::loads) << opened << version << first_code(report);
      EXPECT_NE(find(report.warnings, "EH-L20"), nullptr) << opened << version;
    }
    for (const char* version : {"2.41", "2.42", "2.43"}) {
      const Report report = judged(opened, machine(version));
      EXPECT_EQ(report.verdict, Verdict::fails) << opened << version;
      ASSERT_EQ(first_code(report), "EH-L20") << opened << version;
      EXPECT_EQ(report.diagnoses.front().value(Key::have), version);
      EXPECT_EQ(report.diagnoses.front().value(Key::file), file.native());
    }
  }
}

TEST_F(Recorded, L20AFileForAnotherProcessorIsJudgedAlone) {
  const auto file = workshop_.library("libstack.so", one, "-nostdlib -Wl,-z,execstack");
  workshop_.make_foreign(file);
  EXPECT_EQ(judged(file, machine("2.40", test::other_architecture)).verdict, Verdict::unsure);
  const Report report = judged(file, machine("2.41", test::other_architecture));
  EXPECT_EQ(report.verdict, Verdict::fails);
  EXPECT_EQ(first_code(report), "EH-L20");
}

TEST_F(Recorded, L29StaticTlsIsJudgedByMusl) {
  const auto file = workshop_.library(
      "libtls.so",
      "static __thread int t[4] __attribute__((tls_model(\"initial-exec\")));int* f(void){return t;}",
      "-nostdlib");
  EXPECT_EQ(judged(file, machine("2.36")).verdict, Verdict::loads);
  const Report report = judged(file, machine("1.2.4", test::architecture, "musl"));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L29");
  EXPECT_THAT(std::string(report.diagnoses.front().value(Key::problem)), HasSubstr("static thread-local"));
}

TEST_F(Recorded, L08TheNeedsOfTheClosureAreComparedWithItsGlibc) {
  const auto map = workshop_.file("map", "GLIBC_2.39 { global: *; };");
  const auto stub = workshop_.library("stub/libc.so.6", "int newer(void){return 1;}",
                                      "-nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script=" + map.native());
  const auto inner = workshop_.library("libinner.so", "int newer(void);int inner(void){return newer();}",
                                       "-nostdlib " + faults::quoted(stub));
  const auto user = user_of(inner);
  for (const bool symbols : {false, true}) {
    for (const char* version : {"2.39", "2.41"}) {
      const Report report = judged(user, machine(version), symbols);
      EXPECT_EQ(report.verdict, Verdict::loads) << version << first_code(report);
    }
    const Report report = judged(user, machine("2.38"), symbols);
    EXPECT_EQ(report.verdict, Verdict::fails);
    ASSERT_EQ(first_code(report), "EH-L08");
    EXPECT_EQ(report.diagnoses.front().value(Key::needs), "GLIBC_2.39");
    EXPECT_EQ(report.diagnoses.front().value(Key::have), "GLIBC_2.38");
    EXPECT_EQ(report.diagnoses.front().value(Key::required_by), inner.native());
    EXPECT_EQ(report.diagnoses.front().value(Key::path), "the recorded machine");
  }
}

TEST_F(Recorded, F12PagesLargerThanTheAlignmentAreRefused) {
  for (const std::uint64_t alignment : {4096u, 16384u, 65536u}) {
    const std::string flag = "-nostdlib -Wl,-z,max-page-size=" + std::to_string(alignment) +
                             ",-z,common-page-size=4096,-z,noseparate-code";
    const auto native = workshop_.library("libnative.so", "int d=1;int one(void){return d;}", flag);
    const auto foreign = workshop_.library("libforeign.so", "int d=1;int one(void){return d;}", flag);
    workshop_.make_foreign(foreign);
    for (const std::uint64_t page : {4096u, 16384u, 65536u}) {
      for (const auto& [file, arch] :
           {std::pair(native, test::architecture), std::pair(foreign, test::other_architecture)}) {
        platform::Platform platform = machine("2.36", arch);
        platform.page_size = fact(page);
        const Report report = judged(file, platform);
        ASSERT_EQ(first_code(report), page > alignment ? "EH-F12" : "") << file << alignment << page;
        if (page <= alignment) continue;
        EXPECT_EQ(report.diagnoses.front().value(Key::page_size), std::to_string(page));
        EXPECT_EQ(report.diagnoses.front().value(Key::alignment), std::to_string(alignment));
      }
    }
    // A record that was written before pages were a fact.
    const Report report = judged(foreign, machine("2.36", test::other_architecture));
    EXPECT_EQ(report.verdict, Verdict::unsure);
    const bool arm = std::string(test::other_architecture) != "x86_64";
    ASSERT_EQ(report.notes.size(), alignment < 65536 && arm ? 2u : 1u) << alignment;
    if (report.notes.size() == 2)
      EXPECT_THAT(report.notes[1], HasSubstr(alignment == 4096 ? "16384 bytes or more" : "65536 bytes"));
  }
}

TEST_F(Recorded, G01TheDriverIsThatOfTheRecord) {
  const auto driver = workshop_.library("driver/libcuda.so.1", one, "-Wl,-soname,libcuda.so.1");
  const auto user = user_of(driver);
  platform::Platform with = machine("2.36"), without = machine("2.36"), stub = machine("2.36");
  with.cuda.library = fact(platform::Installed{"580.1", "/usr/lib/none/libcuda.so.1", ""});
  without.cuda.library = platform::Fact<platform::Installed>::absent("record");
  const std::string here = driver.parent_path().native();
  EXPECT_EQ(judged(user, with).verdict, Verdict::loads);
  EXPECT_EQ(judged(user, with, false, here).verdict, Verdict::loads);
  const Report report = judged(user, without, false, here);
  EXPECT_EQ(report.verdict, Verdict::fails);
  EXPECT_EQ(first_code(report), "EH-G01");
}

TEST_F(Recorded, SettingsOfThisProcessDoNotCount) {
  const auto gone = workshop_.library("gone/libgone.so", one, "-Wl,-soname,libgone.so");
  const auto file = user_of(gone);
  platform::Platform platform = machine("2.36");
  platform.loader_environment = fact(platform::Variables{{"LD_PRELOAD", "/none/libpreload.so"},
                                                         {"LD_LIBRARY_PATH", gone.parent_path().native()}});
  platform.cuda.driver = fact<std::string>("580.1");
  const Report report = judged(file, platform);
  // Not EH-L31, which is about a variable that this process changed.
  EXPECT_EQ(first_code(report), "EH-L01");
  EXPECT_TRUE(report.warnings.empty());
}

}  // namespace
}  // namespace enginehost::preflight
