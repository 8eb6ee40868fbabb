// Two engines in one process, each with a library of its own.
#pragma once
#include <gmock/gmock.h>

#include "base/child_process.hpp"
#include "host/explain/explain.hpp"
#include "tests/open/fixture.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::open {

// The file name of that library on this system: "libnumber.so.1", "number.dll".
std::string library_named(const std::string& name);

// Two copies of LLVM's OpenMP runtime, and CUDA's runtime, by their names on this system.
extern const char* const intels_openmp;
extern const char* const llvms_openmp;
extern const char* const runtime_of_cuda_11;
extern const char* const runtime_of_cuda_13;

// A plugin with one library of that file name, whose function gives that number.
test::TestBuild bringing(const std::string& id, const std::string& library, int number);

class OpenEngines : public LoadOrder {
 protected:
  // The cases need an order of the builds that does not depend on what is installed.
  OpenEngines() { flags_.update = "open"; }

  // The second build is preferred to what the fixture has published, and that to the first.
  void publish_builds(test::TestBuild first, test::TestBuild second) {
    first.version = "0.9.0";
    second.version = "1.1.0";
    repository_.add(first);
    repository_.add(second);
    repository_.write();
  }
  // Two such builds that each bring a library.
  void publish(const std::string& first, const std::string& second, int second_number) {
    publish_builds(bringing("first", first, 1), bringing("second", second, second_number));
  }
  Outcome open_flavor(const std::string& flavor) {
    request_.request.flavor = flavor;
    Outcome outcome = open();
    EXPECT_EQ(outcome.state, State::opened)
        << (outcome.diagnosis ? explain::describe(*outcome.diagnosis) : "");
    return outcome;
  }
  // Opens the first build and keeps it open.
  Outcome first() { return open_flavor("first"); }
  // Installs and proves the build and stores a cached decision, as a program without another open engine.
  void prove_second() const { prove("second"); }
  void prove(const std::string& flavor) const {
    // A proof depends on the probe program that made it.
    test::write_text(
        test::config_of_tests(),
        Json::object().set("repositories_default", false).set("helper", path_text(helper_)).dump());
    ChildRequest child;
    child.argv = {test::build_path("/bin/engine-info") + test::program_ending,
                  "reference",
                  "--flavor",
                  flavor,
                  "--cache",
                  *flags_.cache,
                  "--repository",
                  path_text(repository_.root())};
    const auto ended = run_child(child);
    ASSERT_TRUE(ended && ended->succeeded()) << (ended ? ended->output + ended->error : "not started");
    OpenContext context(settings());
    const history::Record* const record = context.history().find(flavor);
    ASSERT_TRUE(record != nullptr && record->state == history::State::proven) << "it does not hold here";
  }
  static Diagnosis why_not(const Outcome& outcome, const std::string& build) {
    for (const auto& candidate : outcome.plan.candidates)
      if (candidate.build->id == build && candidate.diagnosis()) return *candidate.diagnosis();
    ADD_FAILURE() << build << " did not fail";
    return Diagnosis();
  }
};

}  // namespace enginehost::open
