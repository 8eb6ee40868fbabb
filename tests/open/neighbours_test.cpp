// Two engines in one process: what cannot live beside an open one is refused before it is loaded, and the
// next build is opened in the same call. Each case has libraries of its own names, since they stay in the
// process.
#include <gmock/gmock.h>

#include "base/child_process.hpp"
#include "host/explain/explain.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;

// The plugin of the build with one library of its own, whose function gives that number.
test::TestBuild bringing(const std::string& id, const std::string& library, int number, int priority) {
  test::TestBuild build = test::with_library(
      library, test::compile_library("int number(void) { return " + std::to_string(number) + "; }\n",
                                     {"-Wl,-soname," + library}));
  build.id = id;
  build.flavor = id;
  build.priority = priority;
  return build;
}

class Neighbours : public Opening {
 protected:
  // Two builds that each bring a library; the second is preferred to what the fixture has published.
  void publish(const std::string& first, const std::string& second, int second_number) {
    repository_.add(bringing("first", first, 1, 5));
    repository_.add(bringing("second", second, second_number, 90));
    repository_.write();
  }
  Outcome open_flavor(const std::string& flavor) {
    request_.request.flavor = flavor;
    Outcome outcome = open();
    EXPECT_EQ(outcome.state, State::opened)
        << (outcome.diagnosis ? explain::describe(*outcome.diagnosis) : "");
    return outcome;
  }
  // Open already, and kept so.
  Outcome first() { return open_flavor("first"); }
  // As a program that has nothing else open leaves it: installed, proven, with a ticket.
  void prove_second() const {
    ChildRequest child;
    child.argv = {std::string(ENGINEHOST_BUILD_DIR) + "/bin/engine-info",
                  "reference",
                  "--flavor",
                  "second",
                  "--cache",
                  *flags_.cache,
                  "--repository",
                  repository_.root().native()};
    const auto ended = run_child(child);
    ASSERT_TRUE(ended && ended->succeeded()) << (ended ? ended->output + ended->error : "not started");
  }
  static Diagnosis why_not(const Outcome& outcome, const std::string& build) {
    for (const auto& candidate : outcome.plan.candidates)
      if (candidate.build->id == build && candidate.diagnosis()) return *candidate.diagnosis();
    ADD_FAILURE() << build << " did not fail";
    return diagnose("");
  }
};

std::vector<std::string> codes(const std::vector<Diagnosis>& warnings) {
  std::vector<std::string> codes;
  for (const Diagnosis& warning : warnings) codes.push_back(warning.code);
  return codes;
}

TEST_F(Neighbours, AnotherFileOfALibraryThatAnOpenEngineBroughtIsRefusedAndTheNextBuildOpens) {
  publish("libnumber.so.1", "libnumber.so.1", 2);
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good") << "in the same call";
  const Diagnosis refused = why_not(outcome, "second");
  EXPECT_EQ(refused.code, "EH-L17");
  EXPECT_EQ(refused.value("held_by"), "first");
  EXPECT_EQ(refused.value("library"), "libnumber.so.1");
  EXPECT_THAT(refused.value("needed_by"), EndsWith("libengine_reference.so"));
  EXPECT_THAT(explain::describe(refused), HasSubstr("brought by first"));
  EXPECT_THAT(explain::describe(refused), HasSubstr("in a process of its own"));
  EXPECT_EQ(world_->history().find("second"), nullptr) << "of this process, nothing is remembered";
}

TEST_F(Neighbours, ABuildThatWasProvenAloneIsCheckedAgainBesideAnEngine) {
  publish("libproven.so.1", "libproven.so.1", 2);
  prove_second();
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good");
  EXPECT_EQ(why_not(outcome, "second").value("held_by"), "first");
}

TEST_F(Neighbours, OneWhoseLibrariesHaveLeftTheProcessDisturbsNobody) {
  publish("libleaving.so.1", "libleaving.so.1", 2);
  { const Outcome held = first(); }
  EXPECT_EQ(open_flavor("").opened->installed.build, "second");
}

TEST_F(Neighbours, TheSameBytesDoNoHarm) {
  publish("libsame.so.1", "libsame.so.1", 1);
  const Outcome held = first();
  EXPECT_EQ(open_flavor("").opened->installed.build, "second");
}

TEST_F(Neighbours, L35_ASecondOpenMpOfLlvmIsRefusedUnlessTheUserAllowsIt) {
  publish("libiomp5.so", "libomp.so.5", 2);
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good");
  const Diagnosis refused = why_not(outcome, "second");
  EXPECT_EQ(refused.code, "EH-L35");
  EXPECT_EQ(refused.value("held_by"), "first");
  EXPECT_THAT(refused.values("library"), testing::UnorderedElementsAre("libiomp5.so", "libomp.so.5"));
  test::set_variable("KMP_DUPLICATE_LIB_OK", "TRUE");
  const Outcome allowed = open_flavor("");
  test::remove_variable("KMP_DUPLICATE_LIB_OK");
  EXPECT_EQ(allowed.opened->installed.build, "second");
  EXPECT_THAT(codes(allowed.warnings), Contains("EH-L35"));
}

TEST_F(Neighbours, G18_TwoCudaMajorVersionsLiveTogetherAndItIsTold) {
  publish("libcudart.so.11.0", "libcudart.so.13", 2);
  const Outcome held = first();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "second");
  ASSERT_THAT(codes(outcome.warnings), Contains("EH-G18"));
  for (const Diagnosis& warning : outcome.warnings)
    if (warning.code == "EH-G18") {
      EXPECT_EQ(warning.value("cuda"), "13");
      EXPECT_EQ(warning.value("held_cuda"), "11");
    }
}

}  // namespace
}  // namespace enginehost::open
