// Two engines in one process: a build that conflicts with an open engine is refused before it is loaded, and
// the next build is opened in the same call. Each case has libraries with names of its own, since they stay
// in the process.
#include <cerrno>

#include "tests/open/open_engines_fixture.hpp"

namespace enginehost::open {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST_F(OpenEngines, RefuseAnotherFileOfTheirLibraryAndTryTheNextBuild) {
  publish(library_named("number"), library_named("number"), 2);
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good") << "in the same call";
  const Diagnosis refused = why_not(outcome, "second");
  EXPECT_EQ(refused.code, "EH-L17");
  EXPECT_EQ(refused.value(Key::held_by), "first");
  EXPECT_EQ(refused.value(Key::library), library_named("number"));
  EXPECT_THAT(refused.value(Key::needed_by), EndsWith(test::plugin_name));
  EXPECT_THAT(explain::describe(refused), HasSubstr("for first"));
  EXPECT_THAT(explain::describe(refused), HasSubstr("in a process of its own"));
  EXPECT_EQ(context_->history().find("second"), nullptr) << "of this process, nothing is remembered";
}

TEST_F(OpenEngines, ABuildProvenAloneIsCheckedAgainBesideAnEngine) {
  publish(library_named("proven"), library_named("proven"), 2);
  prove_second();
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good");
  EXPECT_EQ(why_not(outcome, "second").value(Key::held_by), "first");
}

TEST_F(OpenEngines, AClosedEngineConflictsWithNothing) {
  publish(library_named("leaving"), library_named("leaving"), 2);
  { const Outcome held = first(); }
  EXPECT_EQ(open_flavor("").opened->installed.build, "second");
}

TEST_F(OpenEngines, TheSameBytesDoNotConflict) {
  publish(library_named("same"), library_named("same"), 1);
  const Outcome held = first();
  EXPECT_EQ(open_flavor("").opened->installed.build, "second");
}

// The server of a better build is gone, and nobody here can repair that; the conflict names what to do.
TEST_F(OpenEngines, ReportL17InPlaceOfAServersFailure) {
  publish(library_named("shown"), library_named("shown"), 2);
  offer_out_of_reach(repository_, "better", "second", "3.0.0");
  const Outcome held = first();
  request_.request.flavor = "second";
  request_.request.require = true;
  for (const char* update : {"open", "report", "never", "open"}) {
    flags_.update = update;
    const Outcome outcome = open();
    ASSERT_EQ(outcome.state, State::failed) << update;
    EXPECT_EQ(outcome.diagnosis->code, "EH-L17") << update;
    EXPECT_EQ(why_not(outcome, "second").code, "EH-L17") << update;
    EXPECT_EQ(why_not(outcome, "better").code, "EH-N02") << update << ": --explain shows it";
  }
}

// A resource that is used up is missing for every build; a file is missing for one.
TEST(Shortages, FetchNoOtherBuild) {
  for (const char* code : {"EH-P51", "EH-P52", "EH-F24"})
    EXPECT_TRUE(ends_the_search(diagnosis_named(code))) << code;
  EXPECT_TRUE(fetches_no_more(
      diagnose(Code::library_input_error).with(Key::os_said, "Too many open files in system")));
  EXPECT_FALSE(fetches_no_more(diagnose_errno(Code::library_input_error, EIO)));
  for (const char* code : {"EH-F15", "EH-L23", "EH-W11"})
    EXPECT_TRUE(fetches_no_more(diagnosis_named(code))) << code;
  EXPECT_TRUE(fetches_no_more(diagnose(Code::memory_short_for_library).with(Key::limit, "1")));
  for (const Key of_file : {Key::zero_filled, Key::memory})
    EXPECT_FALSE(fetches_no_more(diagnose(Code::memory_short_for_library).with(of_file, "1"))) << of_file;
  for (const char* code : {"EH-L02", "EH-F16", "EH-N02", "EH-R02", "EH-W01"}) {
    EXPECT_FALSE(fetches_no_more(diagnosis_named(code))) << code;
    EXPECT_FALSE(ends_the_search(diagnosis_named(code))) << code;
  }
}

}  // namespace
}  // namespace enginehost::open
