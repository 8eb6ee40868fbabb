// Crashes inside the application: what crash markers record of the process that died, and what a failed load
// leaves in the process.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/end-to-end/arrays.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/interrupted.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

constexpr const char* faulty = "reference-faulty";
constexpr const char* good = "reference-good";

// The plugin tests/faults/NAME, compiled with statements that run at its stages.
std::string fixture_plugin(const std::string& name, std::vector<std::string> flags = {}) {
  const std::string root = source_path();
  flags.insert(flags.end(), {"-I" + root + "/plugin-api/include", "-w"});
  return compile_library(
      "#define _GNU_SOURCE\n#include <unistd.h>\n#include <string.h>\n"
      "static int in_probe(void) { char exe[512] = \"\"; (void)!readlink(\"/proc/self/exe\", exe, "
      "sizeof exe - 1); return strstr(exe, \"enginehost-probe\") != 0; }\n"
      "static int in_command(const char* name) { char exe[512] = \"\"; (void)!readlink("
      "\"/proc/self/exe\", exe, sizeof exe - 1); return strstr(exe, name) != 0; }\n" +
          read_text(root + "/tests/faults/" + name),
      flags);
}

class InHost : public testing::Test {
 protected:
  void publish(const std::string& plugin_bytes) {
    repository.add(faulty_build({{plugin, plugin_bytes}}));
    repository.add(good_build());
    repository.write();
  }
  // Runs a host that crashes.
  int crash(const std::string& command, std::vector<std::string> arguments) const {
    RunOptions options;
    options.may_crash = true;
    return workplace.run(command, std::move(arguments), options).status;
  }
  int crash() const {
    return crash("engine-info", {"reference", "--repository", repository.root().native(), "--json"});
  }
  Ended open(const RunOptions& options = {}) const {
    return workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  }
  Ended shown(const std::string& build) const {
    return workplace.run("engine-cache", {"quarantine", "show", build, "--json"});
  }
  std::string write_leaving() const {
    const auto file = workplace.folder() / "leaving.h";
    write_text(file, "#include <stdlib.h>\nvoid* leaving(void* nothing) { exit(0); return nothing; }\n");
    return file.native();
  }
  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

TEST_F(InHost, TheSecondCrashInCreateQuarantines) {
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (!in_probe()) *(volatile int*)0 = 1"}));
  EXPECT_EQ(crash(), 128 + 11) << "the host itself crashes, after the probe passed";
  Ended show = shown(faulty);
  const Json first = show.document["records"].as_array().at(0);
  EXPECT_EQ(first["state"].as_string(), "suspect") << show.said();
  EXPECT_EQ(evidence(first["diagnosis"], "stage"), "create");
  EXPECT_THAT(evidence(first["diagnosis"], "program"), testing::HasSubstr("engine-info"));
  EXPECT_EQ(crash(), 128 + 11) << "one strike: it is tried again";
  const Ended third = open();
  EXPECT_EQ(third.status, 0) << third.said();
  EXPECT_EQ(third.outcome()["build"].as_string(), good);
  EXPECT_EQ(third.candidate(faulty)["verdict"].as_string(), "quarantined") << third.said();
}

TEST_F(InHost, ExitInCreateQuarantinesToo) {
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (!in_probe()) exit(0)"}));
  const Ended first = open();
  EXPECT_EQ(first.status, 6) << "exit(0), as if nothing were wrong: " << first.said();
  EXPECT_EQ(first.code(), "EH-R04") << first.said();
  EXPECT_EQ(evidence(first.diagnosis(), "build"), faulty);
  EXPECT_EQ(evidence(first.diagnosis(), "stage"), "create");
  const Ended show = shown(faulty);
  const Json record = show.document["records"].as_array().at(0);
  EXPECT_EQ(evidence(record["diagnosis"], "stage"), "create") << show.said();
  const Ended second = workplace.info({"reference", "--repository", repository.root().native()});
  EXPECT_EQ(second.status, 6) << second.said();
  EXPECT_EQ(second.output, "");
  EXPECT_THAT(second.error, testing::HasSubstr("EH-R04"));
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
}

TEST_F(InHost, ExitFromAnEngineThreadIsReported) {
  publish(
      fixture_plugin("plugin.c", {"-pthread",
                                  "-DAT_CREATE=if (!in_probe()) { extern void* leaving(void*); pthread_t t; "
                                  "pthread_create(&t, 0, leaving, 0); pthread_join(t, 0); }",
                                  "-include", "pthread.h", "-include", write_leaving()}));
  const Ended ended = open();
  EXPECT_EQ(ended.status, 6) << ended.said();
  EXPECT_EQ(ended.code(), "EH-R04") << ended.said();
}

TEST_F(InHost, ACrashInTheFirstRunIsAStrike) {
  publish(fixture_plugin("plugin.c", {"-DAT_SELFTEST=if (!in_probe()) *(volatile int*)0 = 1"}));
  EXPECT_EQ(crash(), 128 + 11);
  const Ended show = shown(faulty);
  const Json record = show.document["records"].as_array().at(0);
  EXPECT_EQ(record["state"].as_string(), "suspect") << show.said();
  EXPECT_EQ(evidence(record["diagnosis"], "stage"), "warmup");
  EXPECT_EQ(crash(), 128 + 11);
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
}

TEST_F(InHost, CrashesOfDifferentProgramsDoNotQuarantine) {
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (!in_probe()) *(volatile int*)0 = 1"}));
  EXPECT_EQ(crash(), 128 + 11);
  EXPECT_EQ(crash("engine-run", {"reference", (workplace.folder() / "no.model").native(), "--repository",
                                 repository.root().native(), "--json"}),
            128 + 11);
  const Json record = shown(faulty).document["records"].as_array().at(0);
  EXPECT_EQ(record["state"].as_string(), "suspect");
  EXPECT_DOUBLE_EQ(record["strikes"].as_number(), 1.5);
}

// As after a driver update: a build that was proven, and survived in this program, crashes from now on.
TEST_F(InHost, CrashesOfAProvenBuildMakeTheNextOpenFallBack) {
  const std::string flag = (workplace.folder() / "flag").native();
  publish(fixture_plugin("plugin.c",
                         {"-DAT_CREATE=if (access(\"" + flag + "\", F_OK) == 0) *(volatile int*)0 = 1"}));
  for (int times = 0; times < 2; ++times) ASSERT_EQ(open().outcome()["build"].as_string(), faulty);
  write_text(flag, "");
  EXPECT_EQ(crash(), 128 + 11) << "the proof was trusted";
  const Ended next = open();
  EXPECT_EQ(next.status, 0) << next.said();
  EXPECT_EQ(next.outcome()["build"].as_string(), good);
  EXPECT_EQ(next.candidate(faulty)["diagnosis"]["code"].as_string(), "EH-R02") << next.said();
  EXPECT_EQ(open().candidate(faulty)["verdict"].as_string(), "quarantined");
}

// It passes in the probe, so that only the strikes count.
TEST_F(InHost, TwoCrashesInTheHostAloneQuarantineAProvenBuild) {
  const std::string flag = (workplace.folder() / "flag").native();
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (!in_probe() && access(\"" + flag +
                                      "\", F_OK) == 0) *(volatile int*)0 = 1"}));
  for (int times = 0; times < 2; ++times) ASSERT_EQ(open().outcome()["build"].as_string(), faulty);
  write_text(flag, "");
  EXPECT_EQ(crash(), 128 + 11) << "the proof was trusted";
  const Json record = shown(faulty).document["records"].as_array().at(0);
  EXPECT_EQ(record["state"].as_string(), "proven") << "nobody has opened it since";
  EXPECT_EQ(crash(), 128 + 11) << "one strike: it is tried again";
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
}

TEST_F(InHost, ExitRevokesTheProofOfABuild) {
  const std::string flag = (workplace.folder() / "flag").native();
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (access(\"" + flag + "\", F_OK) == 0) exit(0)"}));
  for (int times = 0; times < 2; ++times) ASSERT_EQ(open().outcome()["build"].as_string(), faulty);
  write_text(flag, "");
  const Ended first = open();
  EXPECT_EQ(first.code(), "EH-R04") << first.said();
  EXPECT_EQ(evidence(first.diagnosis(), "build"), faulty);
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
}

TEST_F(InHost, ASecondCtrlCIsNoStrike) {
  const auto ready = workplace.folder() / "ready";
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (!in_probe()) { close(creat(\"" + ready.native() +
                                      "\", 0644)); for (;;) pause(); }"}));
  Running running(
      workplace.request("engine-info", {"reference", "--repository", repository.root().native(), "--json"}),
      workplace.folder() / "said");
  const auto begin = std::chrono::steady_clock::now();
  while (!std::filesystem::exists(ready)) {
    ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  running.interrupt();
  EXPECT_FALSE(running.ended_within(std::chrono::milliseconds(300))) << "it hangs in the engine";
  running.interrupt();
  const auto status = running.ended_within(std::chrono::seconds(10));
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 130);
  const Ended list = workplace.run("engine-cache", {"quarantine", "list", "--json"});
  EXPECT_TRUE(list.document["records"].as_array().empty()) << list.said();
}

TEST_F(InHost, AKilledProcessIsAStrikeButALivingOneIsNot) {
  const std::string ready = (workplace.folder() / "ready").native();
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (in_command(\"engine-run\")) { close(creat(\"" + ready +
                                      "\", 0644)); for (;;) pause(); }"}));
  // A process that stays in create() for as long as it lives.
  RunOptions options;
  options.launcher = {
      "sh", "-c",
      "setsid \"$0\" \"$@\" >/dev/null 2>&1 & while [ ! -e " + ready + " ]; do sleep 0.02; done; echo $!"};
  const Ended started = workplace.run(
      "engine-run", {"reference", "none.model", "--repository", repository.root().native()}, options);
  const long process = std::atol(started.output.c_str());
  ASSERT_GT(process, 0) << started.said();
  // Another host and a reader meanwhile record no strike.
  EXPECT_EQ(open().outcome()["build"].as_string(), faulty);
  EXPECT_TRUE(
      workplace.run("engine-cache", {"quarantine", "list", "--json"}).document["records"].as_array().empty());
  ASSERT_EQ(std::system(("kill -9 " + std::to_string(process)).c_str()), 0);
  while (std::system(("kill -0 " + std::to_string(process) + " 2>/dev/null").c_str()) == 0) {
  }
  const Ended list = workplace.run("engine-cache", {"quarantine", "list", "--json"});
  ASSERT_EQ(list.document["records"].as_array().size(), 1u) << list.said();
  const Json record = list.document["records"].as_array().at(0);
  EXPECT_EQ(record["state"].as_string(), "suspect");
  EXPECT_EQ(evidence(record["diagnosis"], "process"), std::to_string(process));
  // The suspected build is tried again with a warning, and its first work ends the suspicion.
  const Ended again = open();
  EXPECT_EQ(again.outcome()["build"].as_string(), faulty);
  EXPECT_THAT(again.document["warnings"].dump(), testing::HasSubstr("engine-run"));
  EXPECT_TRUE(
      workplace.run("engine-cache", {"quarantine", "list", "--json"}).document["records"].as_array().empty());
}

// Two builds with a library of the same SONAME and different content.
class FailedLoadLibraries : public InHost {
 protected:
  static std::string math(int number) {
    return compile_library("int math(void) { return " + std::to_string(number) + "; }\n",
                           {"-Wl,-soname,libshared_math.so.1"});
  }
  static TestBuild needing_math(TestBuild build, const std::string& plugin_bytes, int number) {
    const TemporaryFolder folder;
    const std::string file = (folder / "plugin.so").native();
    write_text(file, plugin_bytes);
    for (const char* change : {"--set-rpath '$ORIGIN/lib'", "--add-needed libshared_math.so.1"})
      EXPECT_EQ(std::system(("patchelf " + std::string(change) + " " + file).c_str()), 0);
    build.files = {{plugin, read_text(file)}, {"lib/libshared_math.so.1", math(number)}};
    build.search = {"lib"};
    return build;
  }
  // Passes in the probe, and returns an error in the host.
  static std::string fails_in_host() {
    return fixture_plugin(
        "plugin.c", {"-DAT_CREATE=if (!in_probe()) return call->fail(call, ENGINE_UNSUPPORTED, \"\", 0, "
                     "\"not in this program\")"});
  }
};

TEST_F(FailedLoadLibraries, DeferABuildWithAConflictingLibraryToTheNextProcess) {
  repository.add(needing_math(faulty_build({{plugin, ""}}), fails_in_host(), 1));
  TestBuild second = good_build("reference-second");
  second.priority = 70;
  repository.add(needing_math(second, reference_plugin(), 2));
  repository.add(good_build());
  repository.write();
  const Ended first = open();
  EXPECT_EQ(first.outcome()["build"].as_string(), good) << first.said();
  EXPECT_EQ(first.candidate(faulty)["diagnosis"]["code"].as_string(), "EH-E01");
  const Json& skipped = first.candidate("reference-second")["diagnosis"];
  EXPECT_EQ(skipped["code"].as_string(), "EH-L17") << first.said();
  EXPECT_EQ(evidence(skipped, "library"), "libshared_math.so.1");
  EXPECT_EQ(evidence(skipped, "left_by"), faulty);
  EXPECT_EQ(skipped["remedy"].as_array().at(0).as_string(),
            "restart the program: the next open will choose reference-second");
  // The next process opens it.
  const Ended next = open();
  EXPECT_EQ(next.outcome()["build"].as_string(), "reference-second") << next.said();
  EXPECT_EQ(next.candidate(faulty)["verdict"].as_string(), "quarantined");
}

TEST_F(FailedLoadLibraries, AllowABuildWithOtherLibrariesInTheSameCall) {
  repository.add(needing_math(faulty_build({{plugin, ""}}), fails_in_host(), 1));
  repository.add(good_build());
  repository.write();
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
}

TEST_F(FailedLoadLibraries, AllowTheSameFile) {
  repository.add(needing_math(faulty_build({{plugin, ""}}), fails_in_host(), 1));
  TestBuild second = good_build("reference-second");
  second.priority = 70;
  repository.add(needing_math(second, reference_plugin(), 1));
  repository.add(good_build());
  repository.write();
  EXPECT_EQ(open().outcome()["build"].as_string(), "reference-second");
}

TEST_F(FailedLoadLibraries, AllowAnotherProgramToTryTheBuild) {
  publish(fixture_plugin("plugin.c", {"-DAT_CREATE=if (in_command(\"engine-info\")) return call->fail(call, "
                                      "ENGINE_UNSUPPORTED, \"\", 0, \"not in this program\")"}));
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
  EXPECT_EQ(open().candidate(faulty)["verdict"].as_string(), "quarantined");
  const Ended other = workplace.run("engine-run", {"reference", (workplace.folder() / "no.model").native(),
                                                   "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(other.outcome()["build"].as_string(), faulty) << other.said();
}

TEST_F(FailedLoadLibraries, AreListedAndClearedByAnotherProgram) {
  const auto quarantine = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "quarantine");
    words.emplace_back("--json");
    return workplace.run("engine-cache", words);
  };
  publish(fails_in_host());
  EXPECT_EQ(open().outcome()["build"].as_string(), good);
  EXPECT_EQ(open().candidate(faulty)["verdict"].as_string(), "quarantined");
  const Ended list = quarantine({"list"});
  ASSERT_EQ(list.document["records"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["records"].as_array()[0]["build"].as_string(), faulty);
  EXPECT_TRUE(list.document["ended"].as_array().empty()) << list.said();
  EXPECT_THAT(workplace.run("engine-cache", {"quarantine", "list"}).output,
              testing::ContainsRegex("only in the program .*engine-info"));
  EXPECT_EQ(quarantine({"show", faulty}).document["records"].as_array().size(), 1u);
  const Ended clear = quarantine({"clear", faulty});
  EXPECT_EQ(clear.status, 0) << clear.said();
  EXPECT_EQ(clear.document["cleared"].as_array().size(), 1u) << clear.said();
  EXPECT_EQ(open().candidate(faulty)["verdict"].as_string(), "failed") << "it was tried";
}

TEST_F(FailedLoadLibraries, APreloadedLibraryIsReportedAsAHijackWithBothPaths) {
  repository.add(needing_math(good_build(), reference_plugin(), 1));
  repository.write();
  const auto foreign = workplace.folder() / "foreign" / "libshared_math.so.1";
  write_text(foreign, math(2));
  RunOptions options;
  options.environment = {"LD_PRELOAD=" + foreign.native()};
  const Ended run = open(options);
  EXPECT_EQ(run.status, 0) << run.said();
  const std::string warnings = run.document["warnings"].dump();
  EXPECT_THAT(warnings, testing::HasSubstr(foreign.native()));
  EXPECT_THAT(warnings, testing::HasSubstr("lib/libshared_math.so.1"));
  EXPECT_THAT(warnings, testing::ContainsRegex("EH-L1[17]"));
  EXPECT_THAT(open().document["warnings"].dump(), testing::Not(testing::HasSubstr("libshared_math")));
}

TEST(DeviceReport, NamesWhereEachDeviceComputes) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build = good_build();
  build.files = {{build.plugin, fixture_plugin("device_plugin.c")}};
  repository.add(build);
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  const Ended honest = workplace.info(arguments);
  ASSERT_EQ(honest.outcome()["devices"].as_array().size(), 2u) << honest.said();
  const Json& checked = honest.outcome()["devices"].as_array()[0]["checked"];
  EXPECT_EQ(checked["computed_on"].as_string(), "cuda:0") << honest.said();
  EXPECT_GT(checked["milliseconds"].as_number(), 0);
  EXPECT_GT(checked["cpu_milliseconds"].as_number(), 0);
  EXPECT_THAT(workplace.info({"reference", "--repository", repository.root().native()}).output,
              testing::HasSubstr("result on cuda:0"));
  RunOptions elsewhere;
  elsewhere.environment = {"DEVICE_BEHAVIOR=elsewhere"};
  const Ended found = workplace.info(arguments, elsewhere);
  EXPECT_EQ(found.outcome()["devices"].as_array().at(0)["checked"]["diagnosis"]["code"].as_string(), "EH-R17")
      << found.said();
}

// Plugins commonly name the processor first. The list is tried from its front, as at opening.
TEST(DeviceReport, EngineRunPrefersTheAccelerator) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build = good_build();
  build.files = {{build.plugin, fixture_plugin("device_plugin.c", {"-DPROCESSOR_FIRST"})}};
  repository.add(build);
  repository.write();
  const std::string x = (workplace.folder() / "x.npy").native();
  write_array(x, "(2,)", {1, 2});
  const auto ran_on = [&](const std::vector<std::string>& constraint,
                          const std::vector<std::string>& environment = {}) {
    std::vector<std::string> arguments = {
        "reference", x, "--input", "x=" + x, "--json", "--repository", repository.root().native()};
    arguments.insert(arguments.end(), constraint.begin(), constraint.end());
    RunOptions options;
    options.environment = environment;
    const Ended run = workplace.run("engine-run", arguments, options);
    EXPECT_EQ(run.status, 0) << run.said();
    return run.document["run"]["device"].as_string();
  };
  EXPECT_EQ(ran_on({}), "cuda:0");
  EXPECT_EQ(ran_on({"--device", "cpu"}), "cpu:0");
  EXPECT_EQ(ran_on({"--device", "rocm,cpu"}), "cpu:0");
  EXPECT_EQ(ran_on({"--device", "cuda:3,cuda:0,cpu"}), "cuda:0");
  EXPECT_EQ(ran_on({}, {"ENGINEHOST_DEVICE=cpu"}), "cpu:0");
  EXPECT_EQ(ran_on({"--device", "gpu,cpu"}, {"ENGINEHOST_DEVICE=cpu"}), "cuda:0");
}

TEST(DeviceReport, NamesTheDeviceOfARunWithoutReadableOutput) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build = good_build();
  build.files = {{build.plugin, fixture_plugin("device_plugin.c")}};
  repository.add(build);
  repository.write();
  const std::string x = (workplace.folder() / "x.npy").native();
  write_array(x, "(2,)", {1, 2});
  RunOptions options;
  options.environment = {"DEVICE_BEHAVIOR=output of bfloat16"};
  std::vector<std::string> arguments = {"reference",    x,
                                        "--input",      "x=" + x,
                                        "--repository", repository.root().native(),
                                        "--output",     (workplace.folder() / "out").native()};
  const Ended ended = workplace.run("engine-run", arguments, options);
  EXPECT_EQ(ended.status, 2) << ended.said();
  EXPECT_THAT(ended.output, testing::HasSubstr("seen  bfloat16[5]  not written"));
  EXPECT_THAT(ended.output, testing::HasSubstr("ran in "));
  EXPECT_THAT(ended.said(), testing::HasSubstr("the output seen (bfloat16[5]) was not written to "));
  arguments.emplace_back("--json");
  const Ended run = workplace.run("engine-run", arguments, options);
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_EQ(run.code(), "EH-P30") << run.said();
  EXPECT_EQ(run.document["outputs"].as_array().at(0)["diagnosis"]["code"].as_string(), "EH-P30");
  EXPECT_EQ(run.document["run"]["repeat"].as_number(), 1);
}

}  // namespace
}  // namespace enginehost::test
