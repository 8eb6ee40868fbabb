// A build with a stand-in for a library, beside engines and programs that need the library itself. One
// process has one file of a name, so one of the two is refused, whichever came first. Each case has libraries
// with names of its own, since they stay in the process.
#include <dlfcn.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/open/open_engines_fixture.hpp"
#include "tests/support/stand_in.hpp"

namespace enginehost::open {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class StandIns : public OpenEngines {
 protected:
  static std::string library_bytes(const std::string& name) {
    return test::compile_library("int number(void) { return 1; }\n", {"-Wl,-soname," + name});
  }
  // A build that takes the library from a folder of the machine.
  test::TestBuild from_the_system(const std::string& id, const std::string& name) const {
    const std::filesystem::path file = folder_ / "system" / name;
    test::write_text(file, library_bytes(name));
    test::TestBuild build = test::faulty_build(
        {{test::plugin_name, test::plugin_that_needs({name}, file.parent_path().native())}});
    build.id = build.flavor = id;
    return build;
  }
  static test::TestBuild with_stand_in(const std::string& id, const std::string& name) {
    test::TestBuild build = test::with_library(
        name, test::compile_library("int number(void) { return 0; }\n", test::stand_in_named(name)));
    build.stand_ins = {name};
    build.id = build.flavor = id;
    return build;
  }
  void expect_refused(const Outcome& outcome, const std::string& name, const std::string& held_by) const {
    EXPECT_EQ(outcome.opened->installed.build, "reference-good") << "in the same call";
    const Diagnosis refused = why_not(outcome, "second");
    EXPECT_EQ(refused.code, "EH-L17");
    EXPECT_EQ(refused.value(Key::library), name);
    EXPECT_EQ(refused.value(Key::held_by), held_by);
    EXPECT_THAT(refused.value(Key::wanted), EndsWith(name));
    EXPECT_THAT(explain::describe(refused), HasSubstr("in a process of its own"));
    EXPECT_EQ(context_->history().find("second"), nullptr) << "of this process, nothing is remembered";
  }
};

TEST_F(StandIns, AreNamedByTheOpenBuild) {
  publish_builds(with_stand_in("first", library_named("named")), test::good_build("second"));
  const Outcome held = first();
  EXPECT_THAT(held.opened->installed.stand_ins, testing::ElementsAre(library_named("named")));
}

TEST_F(StandIns, RefuseTheLibraryItselfOfAnotherBuild) {
  const std::string name = library_named("its_own");
  publish_builds(with_stand_in("first", name), bringing("second", name, 1));
  const Outcome held = first();
  expect_refused(open_flavor(""), name, "first");
}

TEST_F(StandIns, AreRefusedBesideABuildWithTheLibraryItself) {
  const std::string name = library_named("other_order");
  publish_builds(bringing("first", name, 1), with_stand_in("second", name));
  const Outcome held = first();
  expect_refused(open_flavor(""), name, "first");
}

TEST_F(StandIns, RefuseABuildThatTakesTheLibraryFromTheSystem) {
  const std::string name = library_named("of_system");
  publish_builds(with_stand_in("first", name), from_the_system("second", name));
  const Outcome held = first();
  expect_refused(open_flavor(""), name, "first");
}

TEST_F(StandIns, AreRefusedBesideABuildWithTheSystemsLibrary) {
  const std::string name = library_named("system_first");
  publish_builds(from_the_system("first", name), with_stand_in("second", name));
  const Outcome held = first();
  // The library is no file of the first build.
  expect_refused(open_flavor(""), name, "");
}

TEST_F(StandIns, AreRefusedWhereTheProgramItselfHasTheLibrary) {
  const std::string name = library_named("of_program");
  publish_builds(test::good_build("first"), with_stand_in("second", name));
  prove_second();
  const std::filesystem::path file = folder_ / "program" / name;
  test::write_text(file, library_bytes(name));
  void* const held = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(held, nullptr) << dlerror();
  const Outcome outcome = open_flavor("");
  EXPECT_EQ(outcome.opened->installed.build, "reference-good");
  const Diagnosis refused = why_not(outcome, "second");
  EXPECT_EQ(refused.code, "EH-L17");
  EXPECT_EQ(refused.value(Key::path), file.native());
  EXPECT_THAT(explain::describe(refused), HasSubstr("second has a stand-in for it"));
  EXPECT_THAT(explain::describe(refused), testing::Not(HasSubstr("before the other library is loaded")));
  dlclose(held);
  EXPECT_EQ(open_flavor("").opened->installed.build, "second") << "what was proven still holds";
}

// NVIDIA's own runtime of CUDA 13 and the stand-in that PyTorch's builds have, where both are on this
// machine.
class NvidiasRuntime : public StandIns {
 protected:
  void SetUp() override {
    for (const char* folder :
         {"/usr/local/cuda/lib64", "/usr/local/cuda-13.0/lib64", "/usr/local/cuda-13.0/lib"})
      if (std::filesystem::exists(std::filesystem::path(folder) / name_)) toolkit_ = folder;
    if (toolkit_.empty()) GTEST_SKIP() << "skipped: no toolkit of CUDA 13 is below /usr/local";
    const std::string stand_in = test::build_path("/engines/pytorch/stand_ins/") + name_;
    if (!std::filesystem::exists(stand_in)) GTEST_SKIP() << "skipped: there is no " << stand_in;
    with_stand_in_ = test::with_library(name_, test::read_text(stand_in));
    with_stand_in_.stand_ins = {name_};
    with_itself_ = test::faulty_build({{test::plugin_name, test::plugin_that_needs({name_}, toolkit_)}});
  }
  void publish_in_order(test::TestBuild first, test::TestBuild second) {
    first.id = first.flavor = "first";
    second.id = second.flavor = "second";
    publish_builds(std::move(first), std::move(second));
  }
  const std::string name_ = "libcudart.so.13";
  std::string toolkit_;
  test::TestBuild with_stand_in_, with_itself_;
};

TEST_F(NvidiasRuntime, IsRefusedBesideItsStandIn) {
  publish_in_order(with_stand_in_, with_itself_);
  const Outcome held = first();
  expect_refused(open_flavor(""), name_, "first");
}

TEST_F(NvidiasRuntime, RefusesItsStandInBesideIt) {
  publish_in_order(with_itself_, with_stand_in_);
  const Outcome held = first();
  expect_refused(open_flavor(""), name_, "");
}

TEST_F(NvidiasRuntime, OfTheProgramRefusesItsStandIn) {
  publish_in_order(test::good_build(), with_stand_in_);
  void* const held = dlopen((toolkit_ + "/" + name_).c_str(), RTLD_NOW | RTLD_GLOBAL);
  ASSERT_NE(held, nullptr) << dlerror();
  expect_refused(open_flavor(""), name_, "");
  dlclose(held);
}

// Two releases have the same stand-in: the same bytes do not conflict.
TEST_F(StandIns, OfTwoBuildsAreOneFile) {
  const std::string name = library_named("shared");
  publish_builds(with_stand_in("first", name), with_stand_in("second", name));
  const Outcome held = first();
  EXPECT_EQ(open_flavor("").opened->installed.build, "second");
}

}  // namespace
}  // namespace enginehost::open
