// Limits of processes, address space, files and disks: the command reports the limit, blames no build,
// fetches no other one, and never ends by a signal.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/served.hpp"

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

// From the limit under which the system's loader starts the command, in small steps.
TEST(LimitsOfTheStart, TooLittleMemoryNeverCrashes) {
  const Workplace workplace;
  const auto status = [&](int kib) {
    RunOptions options;
    options.launcher = {"bash", "-c", "ulimit -v " + std::to_string(kib) + " && exec \"$@\"", "bash"};
    const Ended run = workplace.info({"--version"}, options);
    if (run.status != 0 && run.status != 127) EXPECT_THAT(run.error, HasSubstr("EH-P51")) << kib;
    return run.status;
  };
  int refused = 10'000, starts = 400'000;
  ASSERT_EQ(status(refused), 127);
  while (starts - refused > 50) {
    const int middle = (refused + starts) / 2;
    (status(middle) == 127 ? refused : starts) = middle;
  }
  int reported = 0;
  for (int kib = starts; kib < starts + 3'000; kib += 50) {
    const int found = status(kib);
    EXPECT_THAT(found, AnyOf(0, 7, 127)) << kib;
    reported += found == 7 ? 1 : 0;
  }
  EXPECT_GT(reported, 0);
}

// A repository on a server: the best build needs 3 MiB, the other one only the plugin.
struct TwoServed {
  TwoServed() : repository(server.root() / "repository") {
    repository.serve_from(server.url("repository/"));
    TestBuild large = good_build("reference-large");
    large.flavor = "testing";
    large.priority = 90;
    large.files.push_back({"share/data.bin", noise(3u << 20)});
    repository.add(large);
    repository.add(good_build());
    repository.write();
  }
  std::vector<std::string> arguments(const std::string& flavor = {}) const {
    std::vector<std::string> all = {"reference", "--repository", server.url("repository"), "--allow-unsigned",
                                    "--json"};
    if (!flavor.empty()) all.insert(all.end(), {"--flavor", flavor});
    return all;
  }

  NginxServer server;
  TestRepository repository;
};

struct FullDisk {
  const char* name;
  std::vector<std::string> (*launcher)(const Workplace&);
  bool (*possible)();
};

std::vector<std::string> without_quota(const Workplace&) {
  // No file system with quotas is at hand everywhere; the system call fails as there.
  return {
      "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EDQUOT"};
}

const FullDisk full_disks[] = {
    {"no space", [](const Workplace& at) { return with_tmpfs(at.cache(), "size=2m"); }, can_mount},
    {"no inodes", [](const Workplace& at) { return with_tmpfs(at.cache(), "size=64m,nr_inodes=24"); },
     can_mount},
    {"no quota", without_quota, can_trace},
};

TEST(FullDisks, NoOtherBuildIsFetched) {
  for (const FullDisk& disk : full_disks) {
    SCOPED_TRACE(disk.name);
    if (!disk.possible()) GTEST_SKIP() << "this needs root with CAP_SYS_ADMIN, or strace";
    const TwoServed served;
    const Workplace workplace;
    fs::create_directories(workplace.cache());
    RunOptions options;
    options.launcher = disk.launcher(workplace);
    const Ended opened = workplace.info(served.arguments(), options);
    EXPECT_EQ(opened.status, 7) << opened.said();
    EXPECT_EQ(opened.code(), "EH-F15") << opened.said();
    EXPECT_EQ(opened.candidate("reference-good")["verdict"].as_string(), "fits") << opened.said();
    std::vector<std::string> fetch = served.arguments();
    fetch.insert(fetch.begin(), "fetch");
    const Ended fetched = workplace.run("engine-cache", fetch, options);
    EXPECT_EQ(fetched.code(), "EH-F15") << fetched.said();
    if (disk.launcher == without_quota)
      EXPECT_THAT(opened.diagnosis()["remedy"].dump(), HasSubstr("quota -s"));
    const Ended after = workplace.info(served.arguments());
    EXPECT_EQ(after.outcome()["build"].as_string(), "reference-large") << after.said();
  }
}

TEST(FullDisks, AnInstalledBuildIsOpened) {
  if (!can_trace()) GTEST_SKIP() << "strace cannot trace here";
  const TwoServed served;
  const Workplace workplace;
  std::vector<std::string> fetch = served.arguments("cpu");
  fetch.insert(fetch.begin(), "fetch");
  ASSERT_EQ(workplace.run("engine-cache", fetch).status, 0);
  RunOptions options;
  options.launcher = without_quota(workplace);
  const Ended opened = workplace.info(served.arguments("testing"), options);
  EXPECT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), "reference-good") << opened.said();
  EXPECT_TRUE(opened.outcome()["fallback"].as_bool());
  EXPECT_EQ(opened.candidate("reference-large")["diagnosis"]["code"].as_string(), "EH-F15");
}

}  // namespace
}  // namespace enginehost::test
