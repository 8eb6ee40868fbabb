// Limits of processes, address space and files: the command reports the limit, blames no build, tries no
// other one, and never ends by a signal.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;

// Starts a thread when it is loaded, and ends the process as libgomp does if it gets none.
constexpr const char* needs_a_thread =
    "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "static void* nothing(void* with) { return with; }\n"
    "__attribute__((constructor)) static void start(void) {\n"
    "  pthread_t thread;\n"
    "  const int error = pthread_create(&thread, NULL, nothing, NULL);\n"
    "  if (error != 0) {\n"
    "    fprintf(stderr, \"libgomp: Thread creation failed: %s\\n\", strerror(error));\n"
    "    exit(1);\n"
    "  }\n"
    "  pthread_join(thread, NULL);\n"
    "}\n";

// A user of no other test, because the limit counts all processes of a user.
const std::string limited_user = std::to_string(40'000 + ::getpid() % 20'000);

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "becoming a user with a limit needs root";
  }
  // A workplace of that user, with a build that starts a thread and one that does not.
  struct Place {
    Place() : repository(workplace.folder() / "repository") {
      static const TestBuild build =
          with_library("libthreads.so", compile_library(needs_a_thread, {"-lpthread"}));
      repository.add(build);
      repository.add(good_build());
      repository.write();
      for (fs::path at = workplace.folder(); at.has_relative_path() && at != fs::temp_directory_path();
           at = at.parent_path())
        ::chmod(at.c_str(), 0755);
      run_tool({"chown", "-R", limited_user, workplace.folder().native()});
    }
    // `limit`: an argument of ulimit ("-u 3"); empty: none.
    Ended run(const std::string& command, std::vector<std::string> arguments,
              const std::string& limit = {}) const {
      RunOptions options;
      options.launcher = {"setpriv", "--reuid", limited_user, "--regid", limited_user, "--clear-groups"};
      if (!limit.empty())
        for (const std::string& word : {std::string("bash"), std::string("-c"),
                                        "ulimit " + limit + " && exec \"$@\"", std::string("bash")})
          options.launcher.push_back(word);
      options.may_crash = true;  // judged here
      arguments.insert(arguments.end(), {"--repository", repository.root().native(), "--json"});
      return workplace.run(command, std::move(arguments), options);
    }

    Workplace workplace;
    TestRepository repository;
  };

  // The command ended by itself with a code of a limit, or did not meet it.
  static void expect_reported(const Ended& run, const std::string& limit) {
    EXPECT_FALSE(run.timed_out) << limit;
    EXPECT_LT(run.status, 127) << limit << "\n" << run.said();
    if (run.status == 0) return;
    EXPECT_THAT(run.code(), AnyOf("EH-P51", "EH-P52", "EH-L23", "EH-F24", "EH-L26")) << limit << "\n"
                                                                                     << run.said();
  }
  // Without the limit the same build opens, and nothing stands against any.
  static void expect_nothing_remembered(const Place& place, const std::string& limit) {
    const Ended after = place.run("engine-info", {"reference"});
    EXPECT_EQ(after.status, 0) << limit << "\n" << after.said();
    EXPECT_EQ(after.outcome()["build"].as_string(), "reference-faulty") << limit;
    EXPECT_THAT(after.document["warnings"].dump(), testing::Not(HasSubstr("EH-R"))) << limit;
  }
};

TEST_F(Limits, P52IsReportedWhenTheUserMayStartNoThread) {
  int met = 0;
  for (int processes = 1; processes <= 6; ++processes) {
    const std::string limit = "-u " + std::to_string(processes);
    const Place place;
    const Ended fetched = place.run("engine-cache", {"fetch", "reference"});
    if (fetched.status == 126 || fetched.status == 127) GTEST_SKIP() << "the build is closed to others";
    ASSERT_EQ(fetched.status, 0) << fetched.said();
    const Ended run = place.run("engine-info", {"reference"}, limit);
    expect_reported(run, limit);
    if (run.code() == "EH-P52") {
      ++met;
      EXPECT_THAT(run.diagnosis()["cause"].as_string(),
                  HasSubstr("more threads: this user may have " + std::to_string(processes)));
      EXPECT_THAT(run.diagnosis()["remedy"].dump(), HasSubstr("ulimit -u"));
      EXPECT_EQ(run.candidate("reference-good")["verdict"].as_string(), "fits")
          << "it was tried: " << run.said();
    }
    expect_nothing_remembered(place, limit);
  }
  EXPECT_GT(met, 0) << "no limit left room for the command and none for the thread";
}

TEST_F(Limits, FetchingUnderALimitNeverCrashes) {
  std::vector<std::string> limits;
  for (int processes = 1; processes <= 4; ++processes) limits.push_back("-u " + std::to_string(processes));
  for (int files = 4; files <= 40; files += 4) limits.push_back("-n " + std::to_string(files));
  for (int kib = 66'000; kib <= 130'000; kib += 8'000) limits.push_back("-v " + std::to_string(kib));
  for (const std::string& limit : limits) {
    const Place place;
    const Ended run = place.run("engine-cache", {"fetch", "reference"}, limit);
    if (run.status == 127) continue;  // the system's loader could not start the command
    expect_reported(run, limit);
    expect_nothing_remembered(place, limit);
  }
}

TEST_F(Limits, OpeningUnderALimitNeverCrashes) {
  std::vector<std::string> limits;
  for (int files = 4; files <= 40; files += 4) limits.push_back("-n " + std::to_string(files));
  for (int kib = 66'000; kib <= 130'000; kib += 4'000) limits.push_back("-v " + std::to_string(kib));
  for (const std::string& limit : limits) {
    const Place place;
    ASSERT_EQ(place.run("engine-cache", {"fetch", "reference"}).status, 0);
    const Ended run = place.run("engine-info", {"reference"}, limit);
    if (run.status == 127) continue;
    expect_reported(run, limit);
    expect_nothing_remembered(place, limit);
  }
}

}  // namespace
}  // namespace enginehost::test
