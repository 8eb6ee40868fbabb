// Builds with stand-ins for libraries that they cannot use, as people see them: which of two builds is taken,
// what is asked, what the report names, and that nothing takes a stand-in for the library.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/support/stand_in.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

const std::string library = "libaccelerate.so.13";

// One version twice: with the library itself, under a license that must be accepted, and with a stand-in.
class StandInBuilds : public testing::Test {
 protected:
  StandInBuilds() {
    TestBuild with_stand_in =
        with_library(library, compile_library("int count(void) { return 0; }\n", stand_in_named(library)));
    with_stand_in.id = "with-stand-in";
    with_stand_in.stand_ins = {library};
    TestBuild with_itself =
        with_library(library, compile_library("int count(void) { return 1; }\nint more(void) { return 1; }\n",
                                              {"-Wl,-soname," + library}));
    with_itself.id = "with-itself";
    with_itself.license = "vendor";
    with_itself.first_licensed = 1;
    for (TestBuild* build : {&with_stand_in, &with_itself}) {
      build->flavor = "cpu";
      repository_.add(*build);
    }
    repository_.write();
  }
  Ended open(std::vector<std::string> more = {"--json"}, const RunOptions& options = {}) const {
    more.insert(more.begin(), {"reference", "--repository", repository_.root().native()});
    return workplace_.info(std::move(more), options);
  }
  // NVIDIA's driver where the loader finds it first.
  RunOptions with_driver() const {
    const fs::path file = workplace_.folder() / "driver" / "libcuda.so.1";
    write_text(file, read_text(ENGINEHOST_FAKE_CUDA));
    RunOptions options;
    options.environment = {"LD_LIBRARY_PATH=" + file.parent_path().native(), "FAKE_CU_VERSION=13000",
                           "FAKE_GPUS=A card;9.0;a0;80000"};
    return options;
  }
  static std::string build_of(const Ended& run) { return run.outcome()["build"].as_string(); }
  fs::path view() const { return path_of(open().outcome()["library"].as_string()).parent_path(); }

  Workplace workplace_;
  TestRepository repository_{workplace_.folder() / "repository"};
};

TEST_F(StandInBuilds, AreOpenedAndNamedWithoutAQuestion) {
  const Ended run = open();
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(build_of(run), "with-stand-in") << run.said();
  EXPECT_FALSE(run.outcome()["fallback"].as_bool(true));
  ASSERT_EQ(run.outcome()["stand_ins"].as_array().size(), 1u) << run.said();
  EXPECT_EQ(run.outcome()["stand_ins"].as_array()[0].as_string(), library);
  // The second is by a record, and the third by a cached decision.
  for (int again = 0; again < 2; ++again) {
    const Ended text = open({});
    EXPECT_THAT(text.output,
                testing::ContainsRegex(
                    "stand-ins +libaccelerate.so.13 \\(EngineHost's own: no CUDA in this build\\)\n"))
        << text.said();
  }
}

TEST_F(StandInBuilds, WithTheLibraryItselfNameNone) {
  const Ended run = open({"--force", "with-itself", "--accept-license", "LicenseRef-vendor", "--json"});
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(build_of(run), "with-itself");
  EXPECT_TRUE(run.outcome()["stand_ins"].as_array().empty());
  EXPECT_THAT(open({"--force", "with-itself"}).output, Not(HasSubstr("stand-ins")));
}

TEST_F(StandInBuilds, WithTheLibraryItselfArePreferredAndAskedForBesideADriver) {
  const Ended silent = open({"--json"}, with_driver());
  EXPECT_EQ(silent.candidate("with-itself")["diagnosis"]["code"].as_string(), "EH-P03") << silent.said();
  EXPECT_EQ(build_of(silent), "with-stand-in") << "preferred, not required";
  EXPECT_TRUE(silent.outcome()["fallback"].as_bool());
  RunOptions terminal = with_driver();
  terminal.launcher = on_a_terminal();
  terminal.input = "n\n";
  const Ended declined = open({}, terminal);
  EXPECT_THAT(declined.output, HasSubstr("LicenseRef-vendor"));
  EXPECT_THAT(declined.output, HasSubstr("Do you accept the license and download"));
  EXPECT_EQ(declined.status, 0) << declined.said();
  const Ended accepted = open({"--accept-license", "LicenseRef-vendor", "--json"}, with_driver());
  EXPECT_EQ(build_of(accepted), "with-itself") << accepted.said();
  EXPECT_FALSE(accepted.outcome()["fallback"].as_bool(true));
}

TEST_F(StandInBuilds, OpenAfterADriverAppears) {
  ASSERT_EQ(build_of(open()), "with-stand-in");
  const Ended offline = open({"--offline", "--json"}, with_driver());
  EXPECT_EQ(offline.status, 0) << offline.said();
  EXPECT_EQ(build_of(offline), "with-stand-in");
  const Ended online = open({"--json"}, with_driver());
  EXPECT_EQ(online.status, 0) << online.said();
  EXPECT_EQ(build_of(online), "with-stand-in") << "nothing that opened before is lost";
}

TEST_F(StandInBuilds, AreDecidedForTheMachineThatIsNamed) {
  for (const auto& [machine, build] : {std::pair{"linux-rhel8-no-gpu", "with-stand-in"},
                                       {"linux-ubuntu2004-driver470-gtx1080ti", "with-itself"}}) {
    const Ended plan = open({"--platform", profiles + machine + ".json", "--plan", "--json"});
    EXPECT_EQ(build_of(plan), build) << plan.said();
  }
}

// Neither by its cache, nor where a program needs the library: the folder is none that a loader searches.
TEST_F(StandInBuilds, AreNoProvidersForOtherPrograms) {
  const fs::path there = view();
  ASSERT_TRUE(fs::exists(there / "lib" / library));
  const fs::path needer = workplace_.folder() / "libneeder.so";
  const fs::path linked_with = workplace_.folder() / library;
  write_text(linked_with, compile_library("int more(void) { return 1; }\n", {"-Wl,-soname," + library}));
  write_text(needer, compile_library("int more(void);\nint use(void);\nint use(void) { return more(); }\n",
                                     {linked_with.native()}));
  fs::remove(linked_with);
  const Ended seen = workplace_.info({"--inspect", needer.native(), "--json"});
  EXPECT_THAT(seen.output, HasSubstr(library));
  EXPECT_THAT(seen.output, testing::ContainsRegex("EH-L0[12]"));
  EXPECT_THAT(seen.output, Not(HasSubstr(workplace_.cache().native()))) << seen.said();
  // Beside the file that needs it, a library is named, and a stand-in is not.
  write_text(linked_with, read_text(there / "lib" / library));
  const Ended beside = workplace_.info({"--inspect", needer.native(), "--json"});
  EXPECT_THAT(beside.output, Not(HasSubstr("EH-L03"))) << beside.said();
  const Ended itself = workplace_.info({"--inspect", (there / "lib" / library).native(), "--json"});
  EXPECT_THAT(itself.output, HasSubstr("stand-in")) << "its mark";
}

TEST_F(StandInBuilds, AreNoCudaOfAnInstallation) {
  const fs::path environment = workplace_.folder() / "environment";
  write_text(environment / "conda-meta" / "cuda-cudart-13.0.96-h0_0.json",
             Json::object().set("name", "cuda-cudart").set("version", "13.0.96").set("build", "h0_0").dump());
  RunOptions active;
  active.environment = {"CONDA_PREFIX=" + environment.native()};
  const std::string runtime = "libcudart.so.13";
  const auto seen_with = [&](const std::vector<std::string>& options) {
    write_text(environment / "lib" / runtime, compile_library("int r(void) { return 100; }\n", options));
    return workplace_.info({"--installations", "--json", "--repository", repository_.root().native()}, active)
        .output;
  };
  const std::string path = (environment / "lib" / runtime).native();
  EXPECT_THAT(seen_with({"-Wl,-soname," + runtime}), HasSubstr(path));
  EXPECT_THAT(seen_with(stand_in_named(runtime)), Not(HasSubstr(path)));
}

TEST_F(StandInBuilds, AreNoCudaRuntimeOfTheMachine) {
  const fs::path folder = workplace_.folder() / "found";
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" + folder.native()};
  const auto machine_with = [&](const std::vector<std::string>& flags) {
    write_text(folder / "libcudart.so.10.2", compile_library("int r(void) { return 100; }\n", flags));
    return workplace_.info({"--platform-json"}, options).output;
  };
  EXPECT_THAT(machine_with({"-Wl,-soname,libcudart.so.10.2"}), HasSubstr("libcudart.so.10.2"));
  EXPECT_THAT(machine_with(stand_in_named("libcudart.so.10.2")), Not(HasSubstr("libcudart.so.10.2")));
}

}  // namespace
}  // namespace enginehost::test
