// Case05, 06, 26: the next open tries a quarantined build again once the reason is gone, without any command.
// While nothing changed, nothing is probed again. A launcher counts the probes that are started through it.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/files.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

constexpr const char* faulty = "reference-faulty";
constexpr const char* good = "reference-good";

// A build with a library that is opened first and whose constructor runs `body`.
TestBuild with_constructor(const std::string& body) {
  const std::string source =
      "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <stdio.h>\n#include "
      "<stdlib.h>\n#include "
      "<string.h>\n#include <unistd.h>\nint* volatile nowhere;\n"
      "static int counted(const char* file) { FILE* f = fopen(file, \"a\"); fputc('x', f); long n = "
      "ftell(f); "
      "fclose(f); "
      "return (int)n; }\n"
      "static int in_probe(void) { char exe[512] = \"\"; (void)!readlink(\"/proc/self/exe\", exe, sizeof exe "
      "- 1); "
      "return strstr(exe, \"enginehost-probe\") != NULL; }\n"
      "__attribute__((constructor)) static void begin(void) { (void)counted; (void)in_probe; " +
      body + " }\n";
  TestBuild build = faulty_build({{plugin, plugin_that_needs({"libstart.so"}, "$ORIGIN/lib")},
                                  {"lib/libstart.so", compile_library(source, {"-Wl,-soname,libstart.so"})}});
  build.search = {"lib"};
  return build;
}

class Retry : public testing::Test {
 protected:
  Retry() {
    write_text(launcher(), "#!/bin/sh\ncase \" $* \" in *\" probe \"*) echo x >> " + log().native() +
                               ";; esac\nexec \"$@\"\n");
    std::filesystem::permissions(launcher(), std::filesystem::perms::owner_all);
  }
  std::filesystem::path launcher() const { return workplace.folder() / "count.sh"; }
  std::filesystem::path log() const { return workplace.folder() / "probes"; }

  void publish(const TestBuild& build) {
    repository.add(build);
    repository.add(good_build());
    repository.write();
  }
  Ended open(std::vector<std::string> environment = {}, std::vector<std::string> prefix = {}) const {
    RunOptions options;
    options.environment = std::move(environment);
    options.environment.push_back("ENGINEHOST_PROBE_LAUNCHER=" + launcher().native());
    options.launcher = std::move(prefix);
    return workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  }
  long probes() const {
    if (!std::filesystem::exists(log())) return 0;
    const std::string text = read_text(log());
    return std::count(text.begin(), text.end(), '\n');
  }
  // Opens with `first`, which must not choose the faulty build, again unchanged, which must not probe, and
  // with `second`, which must choose the faulty build.
  void expect_chosen_after(
      const std::vector<std::string>& before, const std::vector<std::string>& after,
      const std::function<void()>& change = [] {}, const std::vector<std::string>& prefix_after = {}) {
    const Ended first = open(before);
    EXPECT_EQ(first.outcome()["build"].as_string(), good) << first.said();
    EXPECT_EQ(first.candidate(faulty)["verdict"].as_string(), "failed") << first.said();
    const long so_far = probes();
    const Ended unchanged = open(before);
    EXPECT_EQ(unchanged.outcome()["build"].as_string(), good) << unchanged.said();
    EXPECT_EQ(unchanged.candidate(faulty)["verdict"].as_string(), "quarantined") << unchanged.said();
    EXPECT_EQ(probes(), so_far) << "nothing changed, so nothing is probed again";
    change();
    const Ended changed = open(after, prefix_after);
    EXPECT_EQ(changed.outcome()["build"].as_string(), faulty) << changed.said();
  }
  std::filesystem::path record_of(const std::string& build) const {
    for (const auto& machine : std::filesystem::directory_iterator(workplace.cache() / "state"))
      if (std::filesystem::exists(machine.path() / "history" / (build + ".json")))
        return machine.path() / "history" / (build + ".json");
    return {};
  }

  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

TEST_F(Retry, DoesNotProbeAProvenBuild) {
  publish(with_constructor(""));
  EXPECT_EQ(open().outcome()["build"].as_string(), faulty);
  const long so_far = probes();
  EXPECT_GE(so_far, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(open().outcome()["build"].as_string(), faulty);
  EXPECT_EQ(probes(), so_far);
}

TEST_F(Retry, FollowsTheInstallationOfAMissingLibrary) {
  const auto folder = workplace.folder() / "libraries";
  std::filesystem::create_directories(folder);
  publish(faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"}, folder.native())}}));
  expect_chosen_after({}, {}, [&] {
    write_text(folder / "libmissing_math.so.3",
               compile_library("int math(void) { return 1; }\n", {"-Wl,-soname,libmissing_math.so.3"}));
  });
}

TEST_F(Retry, FollowsTheInstallationOfALibraryOpenedAtRunTime) {
  const auto folder = workplace.folder() / "libraries";
  std::filesystem::create_directories(folder);
  const std::string variable = "LD_LIBRARY_PATH=" + folder.native();
  publish(with_constructor(
      "if (dlopen(\"libcudnn_played.so.9\", RTLD_NOW) == NULL) { fputs(\"Could not load library "
      "libcudnn_played.so.9. Error: libcudnn_played.so.9: cannot open shared object file: No such "
      "file or directory\\n\", stderr); abort(); }"));
  expect_chosen_after({variable}, {variable},
                      [&] { write_text(folder / "libcudnn_played.so.9", compile_library("int x;\n")); });
}

TEST_F(Retry, FollowsTheVariableThatNamesTheFolder) {
  const auto folder = workplace.folder() / "libraries";
  write_text(folder / "libmissing_math.so.3",
             compile_library("int math(void) { return 1; }\n", {"-Wl,-soname,libmissing_math.so.3"}));
  publish(faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"})}}));
  expect_chosen_after({}, {"LD_LIBRARY_PATH=" + folder.native()});
}

TEST_F(Retry, FollowsAChangeOfTheDriver) {
  const auto driver = workplace.folder() / "driver" / "libcuda.so.1";
  write_text(driver, read_text(ENGINEHOST_FAKE_CUDA));
  const std::string folder = "LD_LIBRARY_PATH=" + driver.parent_path().native();
  // The build's own code crashes with drivers before 12.4.
  publish(with_constructor("if (in_probe() && atoi(getenv(\"FAKE_CU_VERSION\")) < 12040) *nowhere = 1;"));
  expect_chosen_after({folder, "FAKE_CU_VERSION=12020"}, {folder, "FAKE_CU_VERSION=12040"});
}

TEST_F(Retry, FollowsAChangeOfTheLoadersCache) {
  if (!can_mount()) GTEST_SKIP() << "this process may not mount";
  const auto folder = workplace.folder() / "libraries";
  write_text(folder / "libmissing_math.so.3",
             compile_library("int math(void) { return 1; }\n", {"-Wl,-soname,libmissing_math.so.3"}));
  publish(faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"})}}));
  // ldconfig -C writes another cache file. One command sees it in the place of the machine's.
  const auto configuration = workplace.folder() / "ld.so.conf", cache = workplace.folder() / "ld.so.cache";
  write_text(configuration, "include /etc/ld.so.conf\n" + folder.native() + "\n");
  ASSERT_EQ(
      std::system(
          ("/sbin/ldconfig -X -f " + configuration.native() + " -C " + cache.native() + " 2>&1").c_str()),
      0);
  expect_chosen_after({}, {}, [] {},
                      {"unshare", "-m", "sh", "-c",
                       "mount --bind " + cache.native() + " /etc/ld.so.cache && exec \"$0\" \"$@\""});
}

TEST_F(Retry, FollowsARestartAfterADriverMismatch) {
  // 803: the kernel's half was loaded before the last update. The test edits the boot that the record names,
  // as a restart would change it.
  const std::string flag = (workplace.folder() / "restarted").native();
  publish(with_constructor("if (access(\"" + flag + "\", F_OK) != 0) abort();"));
  const Ended first = open();
  ASSERT_EQ(first.candidate(faulty)["verdict"].as_string(), "failed") << first.said();
  auto record = parse_json(read_text(record_of(faulty)), "record");
  ASSERT_TRUE(record);
  Json host = (*record)["host"];
  const auto rewrite = [&](const std::string& boot) {
    Json parts = host;
    parts.push(Json::array().push("start of the machine").push(boot));
    write_text(record_of(faulty), Json(*record).set("host", std::move(parts)).dump());
  };
  write_text(flag, "");
  rewrite(read_kernel_file("/proc/sys/kernel/random/boot_id"));
  EXPECT_EQ(open().outcome()["build"].as_string(), good) << "the same start of the machine";
  rewrite("00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(open().outcome()["build"].as_string(), faulty);
}

TEST_F(Retry, RepeatsATransientFailureThreeTimesWithoutARecord) {
  const std::string counter = (workplace.folder() / "tries").native();
  publish(with_constructor("if (in_probe() && counted(\"" + counter + "\") <= 2) raise(9);"));
  // Killed twice, as on a machine that is out of memory. The third try passes in the same call.
  const Ended run = open();
  EXPECT_EQ(run.outcome()["build"].as_string(), faulty) << run.said();
  EXPECT_EQ(probes(), 3);
}

TEST_F(Retry, RepeatsALastingTransientFailureInTheNextOpen) {
  publish(with_constructor("if (in_probe()) raise(9);"));
  const Ended first = open();
  EXPECT_EQ(first.candidate(faulty)["diagnosis"]["code"].as_string(), "EH-R14") << first.said();
  EXPECT_EQ(evidence(first.candidate(faulty)["diagnosis"], "tried_again"), "3");
  EXPECT_EQ(record_of(faulty), "");
  EXPECT_EQ(open().candidate(faulty)["verdict"].as_string(), "failed");
}

TEST_F(Retry, KeepsASingleCrashASuspicionUntilTheNextSuccess) {
  const std::string counter = (workplace.folder() / "tries").native();
  publish(with_constructor("if (in_probe() && counted(\"" + counter + "\") == 1) *nowhere = 1;"));
  const Ended first = open();
  EXPECT_EQ(first.outcome()["build"].as_string(), faulty) << first.said();
  EXPECT_EQ(probes(), 2);
  EXPECT_THAT(read_text(record_of(faulty)), testing::HasSubstr("\"suspect\""));
  const Ended second = open();
  EXPECT_EQ(second.outcome()["build"].as_string(), faulty) << second.said();
  EXPECT_THAT(second.document["warnings"].dump(), testing::HasSubstr("EH-R02")) << "warned of what was seen";
  EXPECT_EQ(probes(), 3);
  EXPECT_THAT(read_text(record_of(faulty)), testing::HasSubstr("\"proven\""));
}

// A build for CUDA brings its runtime, which is one of the libraries that identify a process. The next
// process has not loaded it when it looks up its cached decision, so the decision must not depend on it.
TEST_F(Retry, CachedDecisionIgnoresLibrariesThatTheBuildBrings) {
  const std::string library = "libcudart.so.13";
  TestBuild build =
      with_library(library, compile_library("int number(void) { return 13; }\n", {"-Wl,-soname," + library}));
  build.id = "bringing";
  build.priority = 90;
  publish(build);
  // engine-info decides again each time, because it prints every candidate.
  const std::vector<std::string> arguments = {"reference", source_path("/examples/two-layers.model"),
                                              "--repository", repository.root().native(), "--json"};
  std::string last;
  for (int time = 0; time < 3; ++time) {
    const Ended run = workplace.run("engine-run", arguments);
    ASSERT_EQ(run.status, 0) << run.said();
    std::string decisions;
    for (const auto& file : std::filesystem::recursive_directory_iterator(workplace.cache() / "state"))
      if (file.is_regular_file() && file.path().parent_path().filename() == "decisions")
        decisions += read_text(file.path());
    if (time == 2) {
      EXPECT_THAT(decisions, testing::HasSubstr("\nbuild bringing\n"));
      EXPECT_EQ(decisions, last) << "a new decision was made";
    }
    last = decisions;
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // at rest, and made in another second
  }
}

TEST_F(Retry, FetchesDamagedFilesTwiceThenBlamesDiskOrMirror) {
  // Its own constructor damages the plugin in the store, as a disk would that loses what is written to it.
  publish(with_constructor(
      "if (in_probe()) { Dl_info i; dladdr((void*)begin, &i); chmod(i.dli_fname, 0644); FILE* f = "
      "fopen(i.dli_fname, \"r+\"); fseek(f, -1, SEEK_END); fputc('x', f); fclose(f); abort(); }"));
  const Ended run = open();
  EXPECT_EQ(run.outcome()["build"].as_string(), good) << run.said();
  const Json& diagnosis = run.candidate(faulty)["diagnosis"];
  EXPECT_EQ(evidence(diagnosis, "fetched_again"), "2") << run.said();
  EXPECT_THAT(diagnosis["remedy"].dump(), testing::HasSubstr("check the disk"));
}

}  // namespace
}  // namespace enginehost::test
