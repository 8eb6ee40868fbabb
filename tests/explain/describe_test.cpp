#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "host/explain/explain.hpp"

namespace enginehost::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Diagnosis missing() {
  Diagnosis diagnosis = diagnose(Code::library_missing_indirectly)
                            .with(Key::file, "/view/libengine_x.so")
                            .with(Key::library, "libcudart.so.13", "DT_NEEDED")
                            .with(Key::library, "libcublas.so.13", "DT_NEEDED")
                            .with(Key::needed_by, "/view/lib/libmid.so")
                            .with(Key::chain, "/view/libengine_x.so")
                            .with(Key::chain, "/view/lib/libtop.so")
                            .with(Key::chain, "/view/lib/libmid.so")
                            .with(Key::searched, "/usr/lib")
                            .with(Key::searched, "/lib")
                            .with(Key::os_said, "libcudart.so.13: cannot open shared object file");
  diagnosis.within("while opening x 1.0");
  return diagnosis;
}

TEST(Describe, NamesTheNeederTheLibraryAndTheSearchedFolders) {
  const std::string text = describe(missing());
  EXPECT_THAT(text, HasSubstr("EH-L02  libmid.so needs libcudart.so.13, libcublas.so.13, and no folder"));
  EXPECT_THAT(text, HasSubstr("\n  needed by   libengine_x.so -> libtop.so -> libmid.so\n"));
  EXPECT_THAT(text, HasSubstr("\n  searched    /usr/lib, /lib\n"));
  EXPECT_THAT(text, HasSubstr("\n  while       opening x 1.0\n"));
  EXPECT_THAT(text, HasSubstr("\n  OS said     libcudart.so.13: cannot open"));
  EXPECT_THAT(text, HasSubstr("\n  fix         install CUDA runtime 13: "));
}

TEST(Describe, FitsOnOneScreen) {
  Diagnosis diagnosis = missing();
  for (int i = 0; i < 50; ++i) diagnosis.with_named("fact_" + std::to_string(i), std::string(3000, 'x'));
  const std::string text = describe(diagnosis);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
}

TEST(Describe, RepeatsNothing) {
  const std::string text = describe(diagnose(Code::file_truncated)
                                        .with(Key::file, "/a/b.so")
                                        .with(Key::size, "10")
                                        .with(Key::needed_size, "99"));
  EXPECT_THAT(text, HasSubstr("/a/b.so is truncated: it has 10 of 99 bytes"));
  EXPECT_THAT(text, Not(HasSubstr("\n  file ")));
}

TEST(Describe, AValueInsideALongerWordIsNoRepetition) {
  const auto described = [](const char* file) {
    return describe(diagnose(Code::not_a_shared_library)
                        .with(Key::file, file)
                        .with(Key::size, "20")
                        .with(Key::type, "text file"));
  };
  EXPECT_THAT(described("/home/a20f/libx.so"), HasSubstr("\n  size        20\n"));
  EXPECT_THAT(described("/home/a-20/libx.so"), Not(HasSubstr("size")));
}

TEST(Describe, ALibraryThatIsThereAndCannotBeReadIsNotCalledMissing) {
  const std::string text = describe(diagnose_errno(Code::file_not_readable, EIO)
                                        .with(Key::file, "/a/b.so")
                                        .with(Key::library, "b.so")
                                        .with(Key::needed_by, "/a/c.so"));
  EXPECT_THAT(text, HasSubstr("/a/b.so cannot be read: Input/output error"));
  EXPECT_THAT(text, Not(HasSubstr("does not exist")));
}

TEST(Describe, EscapesForeignTextForTerminals) {
  const std::string painting = "\x1b[2J\x07\x7f\xc2\x9b\nEH-S99 fake";
  Diagnosis diagnosis = diagnose(Code::member_wrong)
                            .with(Key::document, painting)
                            .with(Key::member, "builds[0].id" + painting)
                            .with(Key::problem, painting)
                            .with_named("other" + painting, painting + "2", painting)
                            .with(Key::os_said, painting)
                            .with(Key::last_words, painting);
  diagnosis.within(painting);
  for (const std::string& text : {describe(diagnosis), one_line(diagnosis)}) {
    EXPECT_THAT(text, HasSubstr("\\x1b[2J\\x07\\x7f\\x9b EH-S99 fake"));
    EXPECT_THAT(text, Not(HasSubstr("\nEH-S99")));
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
      return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    })) << text;
  }
  EXPECT_EQ(one_line(diagnosis).find('\n'), std::string::npos);
  EXPECT_THAT(to_json(diagnosis)["cause"].as_string(), HasSubstr("\x1b[2J")) << "documents hold it as it is";
}

TEST(Describe, FilesNamedByAPersonHaveTheirOwnRemedies) {
  const Diagnosis full =
      diagnose(Code::disk_full).with(Key::file, "/media/x.bundle").with(Key::os_said, "No space left");
  EXPECT_THAT(describe(full), HasSubstr("ENGINEHOST_CACHE"));
  EXPECT_THAT(describe(mark_as_argument(full)), Not(HasSubstr("ENGINEHOST_CACHE")));
  EXPECT_EQ(exit_status(mark_as_argument(full)), ExitStatus::cache) << "it is the disk all the same";
  const Diagnosis none = diagnose(Code::file_not_readable).with(Key::file, "/nope");
  EXPECT_EQ(exit_status(none), ExitStatus::not_loaded);
  EXPECT_EQ(exit_status(mark_as_argument(none)), ExitStatus::usage);
  EXPECT_EQ(exit_status(mark_as_argument(none, "/nope")), ExitStatus::usage);
  EXPECT_EQ(exit_status(mark_as_argument(none, "/other")), ExitStatus::not_loaded);
}

TEST(Describe, ReportsAnUnknownCodeAsABug) {
  EXPECT_THAT(describe(diagnosis_named("EH-Q99")), HasSubstr("a bug of EngineHost"));
}

TEST(Describe, JsonHoldsTheSameFactsAndComesBack) {
  const Json json = to_json(missing());
  EXPECT_EQ(json["code"].as_string(), "EH-L02");
  EXPECT_FALSE(json["title"].as_string().empty());
  EXPECT_FALSE(json["remedy"].as_array().empty());
  EXPECT_EQ(json["context"].as_array().size(), 1u);
  EXPECT_EQ(json["evidence"].as_array()[1]["source"].as_string(), "DT_NEEDED");
  const Diagnosis back = diagnosis_from_json(json);
  EXPECT_EQ(to_json(back), json);
}

TEST(Describe, KeepsOneLineInOneLine) {
  const std::string line = one_line(diagnose(Code::engine_reports_error).with(Key::message, "first\nsecond"));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_THAT(line, HasSubstr("first second"));
}

TEST(Describe, WrapsRowsAtTheWidth) {
  EXPECT_EQ(describe(diagnose(Code::c_library_too_old)
                         .with(Key::required_by, "/v/libx.so")
                         .with(Key::needs, "GLIBC_2.38")
                         .with(Key::path, "/lib/libc.so.6")
                         .with(Key::have, "GLIBC_2.36"),
                     {.width = 60}),
            "EH-L08  libx.so needs GLIBC_2.38; /lib/libc.so.6 has\n"
            "        GLIBC_2.36\n"
            "  required by   /v/libx.so\n"
            "  fix           use a build for older systems (engine-info\n"
            "                ENGINE --plan --explain lists them) or a\n"
            "                newer operating system; never copy another\n"
            "                system's C library here");
}

TEST(Describe, ColorsTheCodeAndTheLabels) {
  EXPECT_EQ(
      describe(diagnose(Code::loading_forbidden_by_library).with(Key::file, "/v/libx.so"), {.color = true}),
      "\x1b[1;31mEH-F13\x1b[0m  /v/libx.so was linked with -z nodlopen\n"
      "  \x1b[2mfix\x1b[0m         ask the publisher to link the library without -z nodlopen");
}

TEST(Describe, LeavesOutTheRefusedBuildsBesideThePlan) {
  const Diagnosis none = diagnose(Code::no_build_fits)
                             .with(Key::engine, "x")
                             .with(Key::request, "x --require cu128")
                             .with(Key::count, "2")
                             .with(Key::build, "x-2")
                             .with(Key::reason, "needs a driver, found none")
                             .with(Key::first_code, "EH-G03")
                             .with(Key::candidate, "x-2: EH-G03 needs a driver, found none")
                             .with(Key::candidate, "x-1: EH-G03 needs a driver, found none");
  EXPECT_THAT(describe(none), HasSubstr("\n  candidate   x-1: EH-G03 "));
  EXPECT_THAT(describe(none), Not(HasSubstr("x-2: EH-G03"))) << "the cause names it";
  EXPECT_THAT(describe(none, {.beside_plan = true}), Not(HasSubstr("candidate")));
}

TEST(Describe, PrintsTheLastOutputOnce) {
  const std::string text = describe(diagnose(Code::engine_ended_process)
                                        .with(Key::stage, "create")
                                        .with(Key::last_words, "bad table")
                                        .with(Key::os_said, "bad table"));
  EXPECT_EQ(text.find("bad table"), text.rfind("bad table")) << text;
}

TEST(OfException, DistinguishesAShortageFromABug) {
  EXPECT_EQ(of_exception(std::bad_alloc()).code, "EH-P51");
  const std::system_error no_thread(EAGAIN, std::generic_category());
  EXPECT_EQ(of_exception(no_thread).code, "EH-P51");
  EXPECT_THAT(describe(of_exception(no_thread)), HasSubstr("no more threads can be started"));
  // clone3 under a container's old seccomp profile.
  const std::system_error forbidden_thread(EPERM, std::generic_category());
  EXPECT_EQ(of_exception(forbidden_thread).code, "EH-P51");
  EXPECT_THAT(describe(of_exception(forbidden_thread)), HasSubstr("seccomp"));
  EXPECT_THAT(describe(of_exception(no_thread)), Not(HasSubstr("seccomp")));
  EXPECT_EQ(of_exception(std::filesystem::filesystem_error(
                             "permissions", std::make_error_code(std::errc::operation_not_permitted)))
                .code,
            "EH-P99");
  EXPECT_EQ(of_exception(std::system_error(EINVAL, std::generic_category())).code, "EH-P99");
  EXPECT_THAT(describe(of_exception(std::logic_error("basic_string::at"))), HasSubstr("basic_string::at"));
}

}  // namespace
}  // namespace enginehost::explain
