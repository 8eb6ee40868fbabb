// A symbol with a version that the library found for it does not define: a failure without --symbols, as the
// real loader has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/preflight/real_opener.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::HasSubstr;

class MissingSymbol : public ::testing::Test {
 protected:
  // The library in two releases: "new" also has what the user needs.
  void SetUp() override {
    const auto map = workshop_.file("map", "libpart.so.12 { global: *; };");
    const std::string flags = "-Wl,-soname,libpart.so.12 -Wl,--version-script=" + map.native();
    const std::string older = "int created(void){return 0;}";
    old_ = workshop_.library("old/libpart.so.12", older, flags);
    new_ = workshop_.library("new/libpart.so.12", older + "int added(void){return 0;}int variable=1;", flags);
  }
  std::filesystem::path user(const std::string& source, const std::string& flags = {}) {
    return workshop_.library(
        "libuser.so", source,
        "-Wl,-soname,libuser.so " + faults::quoted(new_) + " -Wl,-rpath,'$ORIGIN/new' -Wl,-z,lazy " + flags);
  }
  Report judged(const std::filesystem::path& file, const std::string& library_path) {
    linker::Machine machine = linker::describe_this_machine();
    machine.library_path.clear();
    if (!library_path.empty()) machine.library_path = {library_path};
    machine.library_path_text = library_path;
    auto report = inspect(file, false, machine);
    EXPECT_TRUE(report);
    return report ? std::move(*report) : Report();
  }
  std::string old_folder() const { return old_.parent_path().native(); }

  faults::Workshop workshop_;
  RealOpener real_{workshop_};
  std::filesystem::path old_, new_;
};

constexpr const char* function = "int added(void);int use(void){return added();}";

TEST_F(MissingSymbol, L15AFunctionIsAFailureAndItsSourceIsNamed) {
  const auto file = user(function);
  EXPECT_EQ(judged(file, "").verdict, Verdict::loads);
  EXPECT_EQ(real_.error(file, ""), "");
  const Report report = judged(file, old_folder());
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L15");
  const Diagnosis& found = report.diagnoses.front();
  EXPECT_EQ(found.value(Key::path), old_.native());
  EXPECT_TRUE(std::filesystem::equivalent(std::filesystem::path(found.value(Key::wanted)), new_));
  EXPECT_THAT(explain::describe(found),
              HasSubstr("remove the folder of " + old_.native() + " from LD_LIBRARY_PATH"));
  // The real loader says the same, and binds lazily only when it is asked to.
  EXPECT_THAT(real_.error(file, old_folder()), HasSubstr("undefined symbol: added, version libpart.so.12"));
  EXPECT_EQ(real_.error(file, old_folder(), true), "");
  EXPECT_THAT(std::string(found.value(Key::binding)), HasSubstr("RTLD_NOW"));
}

TEST_F(MissingSymbol, L15AVariableFailsHoweverItIsOpened) {
  const auto file = user("extern int variable;int use(void){return variable;}");
  const Report report = judged(file, old_folder());
  ASSERT_EQ(first_code(report), "EH-L15");
  EXPECT_EQ(report.diagnoses.front().value(Key::binding), "dlopen fails");
  EXPECT_THAT(real_.error(file, old_folder(), true), HasSubstr("undefined symbol: variable"));
}

TEST_F(MissingSymbol, L15WithoutTheVariableTheFoundFileIsNamed) {
  const auto file = user(function);
  workshop_.remove(new_);
  std::filesystem::copy_file(old_, new_);
  const Report report = judged(file, "");
  ASSERT_EQ(first_code(report), "EH-L15");
  EXPECT_TRUE(report.diagnoses.front().value(Key::wanted).empty());
  EXPECT_TRUE(report.diagnoses.front().value(Key::from_environment).empty());
  EXPECT_THAT(real_.error(file, ""), HasSubstr("undefined symbol: added"));
}

TEST_F(MissingSymbol, AnotherLibraryMayOfferTheSameVersion) {
  const auto map = workshop_.file("map", "libpart.so.12 { global: *; };");
  const auto other = workshop_.library("libother.so", "int added(void){return 2;}",
                                       "-Wl,-soname,libother.so -Wl,--version-script=" + map.native());
  const auto file = user(function, "-Wl,--no-as-needed " + faults::quoted(other) + " -Wl,-rpath,'$ORIGIN'");
  EXPECT_EQ(real_.error(file, old_folder()), "");
  EXPECT_EQ(judged(file, old_folder()).verdict, Verdict::loads);
}

TEST_F(MissingSymbol, ALibraryWithoutVersionsServesThem) {
  const auto plain =
      workshop_.library("plain/libpart.so.12", "int created(void){return 0;}int added(void){return 0;}",
                        "-Wl,-soname,libpart.so.12");
  const auto file = user(function);
  const std::string folder = plain.parent_path().native();
  const bool opens = real_.error(file, folder).empty();
  EXPECT_EQ(judged(file, folder).verdict == Verdict::loads, opens);
}

TEST_F(MissingSymbol, SymbolsWithoutAVersionStayANote) {
  const auto file = workshop_.library("libhost.so", "void of_the_host(void);void use(void){of_the_host();}");
  const Report report = judged(file, "");
  EXPECT_EQ(report.verdict, Verdict::loads);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes.front(),
              HasSubstr("1 undefined symbol that no library of its closure provides, of_the_host"));
}

TEST_F(MissingSymbol, L01AnotherReleaseOfTheLibraryCannotStandIn) {
  const auto wanted =
      workshop_.library("libavutil.so.58", "int wanted(void){return 1;}", "-Wl,-soname,libavutil.so.58");
  const auto file = workshop_.library("libuser.so", "int wanted(void);int use(void){return wanted();}",
                                      faults::quoted(wanted) + " -Wl,-rpath,'$ORIGIN:$ORIGIN/more'");
  workshop_.remove(wanted);
  EXPECT_TRUE(judged(file, "").diagnoses.front().values(Key::other_release).size() <= 1)
      << "the system's own, if any";
  const auto beside = workshop_.file("libavutil.so.57", "x"),
             further = workshop_.file("more/libavutil.so.60", "x");
  workshop_.file("more/libavutil.so.57.28.100", "x");
  workshop_.file("more/libavutil.so", "x");
  workshop_.file("more/libavutility.so.57", "x");
  const Report report = judged(file, "");
  ASSERT_EQ(first_code(report), "EH-L01");
  const auto others = report.diagnoses.front().values(Key::other_release);
  EXPECT_EQ(std::set<std::string>(others.begin(), others.end()),
            (std::set<std::string>{beside.native(), further.native()}));
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("cannot stand in"));
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("FFmpeg 6"));
}

// libstdc++.so.6.0.34 without the link libstdc++.so.6: lost by a copy, an archive or an update.
TEST_F(MissingSymbol, L01TheLibraryLiesThereUnderAnotherName) {
  for (const char* name : {"libpart.so.12.0.34", "libpart.so", "libpart.so.12.bak"}) {
    const auto file = user(function, "-Wl,-rpath,'$ORIGIN/new'");
    const auto kept = new_.parent_path() / name;
    std::filesystem::rename(new_, kept);
    const Report report = judged(file, "");
    ASSERT_EQ(first_code(report), "EH-L01");
    EXPECT_EQ(std::filesystem::path(report.diagnoses.front().value(Key::unlinked)).filename(), name);
    EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr(std::string("ln -s ") + name + " "));
    // The remedy helps.
    std::filesystem::create_symlink(name, std::string(report.diagnoses.front().value(Key::linked_as)));
    EXPECT_EQ(real_.error(file, ""), "");
    std::filesystem::remove(new_);
    std::filesystem::rename(kept, new_);
  }
}

TEST_F(MissingSymbol, L01AnotherLibraryWithSuchANameIsNotTheLibrary) {
  const auto file = user(function);
  workshop_.remove(new_);
  workshop_.library("new/libpart.so.12.1", "int created(void){return 0;}", "-Wl,-soname,libpart.so.11");
  workshop_.file("new/libpart.so.12.2", "x");
  const Report report = judged(file, "");
  ASSERT_EQ(first_code(report), "EH-L01");
  EXPECT_EQ(report.diagnoses.front().value(Key::unlinked), "");
}

TEST_F(MissingSymbol, L15TheNewerLibraryLacksItsLink) {
  const auto map = workshop_.file("newer", "PART_1 { global: created; }; PART_2 { global: added; };");
  const auto older_map = workshop_.file("older", "PART_1 { global: created; };");
  const std::string older = "int created(void){return 0;}", flags = "-Wl,-soname,libpart.so.12 ";
  new_ = workshop_.library("new/libpart.so.12", older + "int added(void){return 0;}",
                           flags + "-Wl,--version-script=" + map.native());
  workshop_.library("old/libpart.so.12", older, flags + "-Wl,--version-script=" + older_map.native());
  const auto file = user(function, "-Wl,-rpath,'$ORIGIN/old'");
  std::filesystem::rename(new_, new_.native() + ".1");
  const Report report = judged(file, "");
  ASSERT_EQ(first_code(report), "EH-L15");
  EXPECT_THAT(std::string(report.diagnoses.front().value(Key::unlinked)), HasSubstr("libpart.so.12.1"));
  // One that lacks the version as well is no help.
  std::filesystem::remove(new_.native() + ".1");
  std::filesystem::copy_file(workshop_.path("old/libpart.so.12"), new_.native() + ".1");
  EXPECT_EQ(judged(file, "").diagnoses.front().value(Key::unlinked), "");
}

}  // namespace
}  // namespace enginehost::preflight
