// Failures that users of other systems had, and what happens here instead. The numbers are those of the
// project's list of cases. Cases about a choice alone are in tests/resolve, those of one failure class beside
// that class.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/freezer.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string crashing() {
  return compile_library(
      "int* volatile nowhere;\n__attribute__((constructor)) static void begin(void) { *nowhere = 1; }\n",
      {"-Wl,-soname,libstart.so"});
}

TestBuild for_cuda(TestBuild build, const std::string& toolkit, int priority) {
  build.flavor = "cu" + toolkit.substr(0, 2) + toolkit.substr(3);
  build.id = "reference-" + build.flavor;
  build.priority = priority;
  build.requirements = Json::object().set(
      "cuda",
      Json::object().set("toolkit", toolkit).set("sass", Json::strings({"8.6"})).set("ptx", Json::array()));
  return build;
}

class Cases : public testing::Test {
 protected:
  Ended open(std::vector<std::string> more = {}, const RunOptions& options = {}) const {
    std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace.info(arguments, options);
  }
  // The fake driver where the loader finds it first.
  RunOptions with_driver(std::vector<std::string> environment) const {
    const fs::path file = workplace.folder() / "driver" / "libcuda.so.1";
    write_text(file, read_text(ENGINEHOST_FAKE_CUDA));
    environment.push_back("LD_LIBRARY_PATH=" + file.parent_path().native());
    RunOptions options;
    options.environment = std::move(environment);
    return options;
  }
  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

// nvfuser_codegen could not be loaded, and with it the whole engine; deleting the file was the cure.
TEST_F(Cases, Case02SkipsAnOptionalLibraryThatCannotLoad) {
  const TemporaryFolder folder;
  write_text(folder / "libgone.so.1",
             compile_library("int gone(void) { return 1; }\n", {"-Wl,-soname,libgone.so.1"}));
  TestBuild build =
      faulty_build({{plugin, reference_plugin()},
                    {"lib/libnvfuser_codegen.so",
                     compile_library("int gone(void);\nint use(void);\nint use(void) { return gone(); }\n",
                                     {(folder / "libgone.so.1").native()})}});
  build.search = {"lib"};
  build.optional = {"lib/libnvfuser_codegen.so"};
  repository.add(build);
  repository.write();
  const Ended run = open();
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), build.id);
  ASSERT_EQ(run.document["warnings"].as_array().size(), 1u) << run.document["warnings"].dump(2);
  const std::string warning = run.document["warnings"].as_array()[0].dump();
  EXPECT_THAT(warning, HasSubstr("libnvfuser_codegen.so"));
  EXPECT_THAT(warning, HasSubstr("libgone.so.1"));
}

// After a failed load the program kept asking whether to download the engine again.
TEST_F(Cases, Case05AFailedLoadRefetchesNoIntactFiles) {
  const TestBuild build = with_library("libstart.so", crashing());
  repository.add(build);
  repository.write();
  const Ended absent = open({"--plan"});
  EXPECT_EQ(absent.candidate(build.id)["verdict"].as_string(), "chosen");
  const Ended failed = open();
  EXPECT_EQ(failed.candidate(build.id)["verdict"].as_string(), "failed") << failed.said();
  EXPECT_EQ(failed.status, 6);
  const auto installed = [&] {
    return workplace.run("engine-cache", {"list", "--json"}).document["builds"].as_array().size();
  };
  EXPECT_EQ(installed(), 1u) << "present, and not usable";
  EXPECT_EQ(open().candidate(build.id)["verdict"].as_string(), "quarantined");
  ASSERT_EQ(workplace.run("engine-cache", {"quarantine", "clear", build.id}).status, 0);
  fs::remove_all(repository.root() / "files");
  const Ended again = open();
  EXPECT_EQ(again.candidate(build.id)["verdict"].as_string(), "failed") << again.said();
  EXPECT_EQ(again.diagnosis()["code"].as_string(), "EH-R02") << "the files are there: nothing is fetched";
  EXPECT_EQ(again.outcome()["download"]["bytes"].as_integer(), 0);
  EXPECT_EQ(installed(), 1u);
}

// A CUDA build was fetched and could not be loaded, and nothing else was tried.
TEST_F(Cases, Case06FallsBackToTheNextBuildAndThenToCpu) {
  repository.add(for_cuda(with_library("libstart.so", crashing()), "12.8", 90));
  repository.add(for_cuda(faulty_build({{plugin, plugin_that_needs({"libmissing_math.so.3"})}}), "12.6", 80));
  repository.add(good_build());
  repository.write();
  const Ended run = open({}, with_driver({"FAKE_CU_VERSION=12080"}));
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  EXPECT_TRUE(run.outcome()["fallback"].as_bool());
  EXPECT_EQ(run.candidate("reference-cu128")["diagnosis"]["code"].as_string(), "EH-R02") << run.said();
  EXPECT_EQ(run.candidate("reference-cu126")["diagnosis"]["code"].as_string(), "EH-L01");
}

// nvrtc-builtins was opened at run time only, and missing then.
TEST_F(Cases, Case08ReportsAMissingRunTimeLibraryBeforeLoading) {
  TestBuild build =
      faulty_build({{plugin, reference_plugin()}, {"lib/libother.so", compile_library("int x;\n")}});
  build.search = {"lib"};
  build.lazy = {"libnvrtc-builtins.so.11.3"};
  expect_fault({build, "EH-R15", {"libnvrtc-builtins.so.11.3", "nothing was executed"}});
}

// The adapter was not published, and was requested only after the large library.
TEST_F(Cases, Case15ReportsAMissingAdapterBeforeTheDownload) {
  Served served;
  const std::string large = noise(4u << 20);
  TestBuild build = good_build("reference-without-adapter");
  build.files = {{plugin, reference_plugin() + "never published"}, {"lib/large.bin", large}};
  served.repository.add(build);
  served.repository.write();
  const std::string adapter = sha256_hex(build.files[0].bytes);
  fs::remove(served.repository.root() / "files" / adapter);
  const Ended run = workplace.info(served.arguments());
  EXPECT_EQ(run.status, 4) << run.said();
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr(adapter));
  EXPECT_EQ(served.server.requests("GET /repository/files/" + sha256_hex(large)), 0) << served.server.log();
}

// Proxy settings were ignored.
TEST_F(Cases, Case18UsesAProxyExceptForExcludedHosts) {
  repository.add(good_build());
  repository.write();
  FaultServer proxy([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    const std::string host = "http://repository.invalid/";
    const fs::path file =
        repository.root() / fs::path(request.path.starts_with(host) ? request.path.substr(host.size()) : "");
    if (!request.path.starts_with(host) || !fs::is_regular_file(file))
      connection.answer("404 Not Found", "");
    else
      connection.answer("200 OK", read_text(file));
  });
  RunOptions options;
  options.environment = {"http_proxy=" + proxy.url("")};
  const Ended run = workplace.info(
      {"reference", "--allow-unsigned", "--repository", "http://repository.invalid", "--json"}, options);
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  EXPECT_GT(proxy.requests(), 0);
  EXPECT_THAT(run.document["config"].dump(), HasSubstr("http_proxy"));

  // A proxy that does not answer does not affect a host that needs none.
  Served served;
  served.publish();
  options.environment = {"http_proxy=http://127.0.0.1:" + std::to_string(free_port()), "NO_PROXY=127.0.0.1"};
  const Ended direct = Workplace().info(served.arguments(), options);
  EXPECT_EQ(direct.status, 0) << direct.said();
}

// Chosen on a login node without a GPU and frozen for the compute node.
TEST_F(Cases, Case21FetchesForARecordedGpuMachine) {
  repository.add(for_cuda(faulty_build({{plugin, read_text(ENGINEHOST_DRIVER_PLUGIN)}}), "12.4", 90));
  repository.add(good_build());
  repository.write();
  const Ended seeded =
      workplace.run("engine-cache", {"fetch", "reference", "--platform",
                                     source_path("/tests/profiles/linux-ubuntu2204-driver525-rtx3090.json"),
                                     "--repository", repository.root().native(), "--json"});
  ASSERT_EQ(seeded.status, 0) << seeded.said();
  EXPECT_EQ(seeded.document["fetched"].as_array().at(0)["build"].as_string(), "reference-cu124");
  const Ended here = open();
  if (!fs::exists("/proc/driver/nvidia/version")) {
    EXPECT_EQ(here.outcome()["build"].as_string(), "reference-good");
  }
  const Ended there = open({}, with_driver({"FAKE_CU_VERSION=12040", "FAKE_CU_WORK="}));
  EXPECT_EQ(there.outcome()["build"].as_string(), "reference-cu124") << there.said();
}

// A driver that hangs made the tool hang, or was read as "no GPU" for as long as the process lived.
TEST_F(Cases, Case23Case26AHangingDriverCostsItsTimeOnce) {
  repository.add(for_cuda(faulty_build({{plugin, read_text(ENGINEHOST_DRIVER_PLUGIN)}}), "12.4", 90));
  repository.add(good_build());
  repository.write();
  // Only the driver changes between the two opens.
  const fs::path mark = workplace.folder() / "the-driver-hangs";
  write_text(mark, "");
  const RunOptions driver =
      with_driver({"FAKE_CU_VERSION=12040", "FAKE_CU_WORK=", "FAKE_CU_HANG_WHILE=" + mark.native()});
  const Ended hung = open({}, driver);
  EXPECT_EQ(hung.status, 0) << hung.said();
  EXPECT_FALSE(hung.timed_out);
  EXPECT_TRUE(hung.document["platform"]["cuda"]["devices"]["unknown"].as_bool())
      << hung.document["platform"]["cuda"].dump(2);
  EXPECT_THAT(hung.document["platform"]["cuda"]["devices"]["why"].as_string(), HasSubstr("did not answer"));
  EXPECT_EQ(hung.outcome()["build"].as_string(), "reference-good") << hung.said();
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string command : {"a report", "a plan", "a machine"}) {
    const Ended again = command == "a report" ? open({}, driver)
                        : command == "a plan" ? open({"--plan"}, driver)
                                              : workplace.info({"--json"}, driver);
    EXPECT_THAT(again.document["platform"]["cuda"]["devices"]["why"].as_string(), HasSubstr("did not answer"))
        << command;
    EXPECT_THAT(again.document["warnings"].dump(), HasSubstr("--refresh asks it now")) << command;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "it was asked again";
  fs::remove(mark);
  const Ended next = open({"--refresh"}, driver);
  EXPECT_EQ(next.document["platform"]["cuda"]["devices"]["value"].as_array().size(), 1u) << next.said();
}

// Each question wakes a GPU that sleeps, and takes seconds.
TEST_F(Cases, AsksASlowDriverOnceForAllReports) {
  repository.add(good_build());
  repository.write();
  const fs::path launcher = workplace.folder() / "slow", asked = workplace.folder() / "asked";
  const auto count = [&] {
    const std::string lines = fs::exists(asked) ? read_text(asked) : "";
    return std::count(lines.begin(), lines.end(), '\n');
  };
  const auto run_with = [&](const std::string& seconds) {
    write_text(launcher,
               "#!/bin/sh\necho asked >>" + asked.native() + "\nsleep " + seconds + "\nexec \"$@\"\n");
    fs::permissions(launcher, fs::perms(0755));
  };
  const RunOptions driver = with_driver({"FAKE_CU_VERSION=12040", "FAKE_GPUS=A card;9.0;a0;80000",
                                         "ENGINEHOST_PROBE_LAUNCHER=" + launcher.native()});
  run_with("0");
  ASSERT_EQ(open({}, driver).status, 0);
  fs::remove(asked);
  const auto report = [&](std::vector<std::string> flags) {
    flags.push_back("--json");
    const Ended run = workplace.info(std::move(flags), driver);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_TRUE(run.document["platform"]["cuda"]["devices"].find("value") != nullptr) << run.said();
    return run;
  };
  for (int fast = 1; fast <= 2; ++fast) {
    report({});
    EXPECT_EQ(count(), fast) << "a driver that answers at once is asked for each report";
  }
  run_with("1.2");
  report({});
  EXPECT_EQ(count(), 3);
  const Ended again = report({});
  EXPECT_EQ(count(), 3) << "its answer is remembered";
  EXPECT_THAT(again.document["warnings"].dump(), HasSubstr("--refresh asks them again"));
  report({"--refresh"});
  EXPECT_EQ(count(), 4);
  // Reports are passed on: UUIDs and the home are for those who ask for them.
  EXPECT_THAT(again.document["platform"].dump(), testing::Not(HasSubstr("uuid")));
  EXPECT_THAT(report({"--verbose"}).document["platform"].dump(), HasSubstr("uuid"));
}

TEST_F(Cases, ADocumentOfTheMachineNamesNoHome) {
  const std::string home = workplace.folder().native();
  RunOptions at_home;
  at_home.launcher = {"env", "HOME=" + home};
  EXPECT_THAT(workplace.info({"--json"}, at_home).output, testing::Not(HasSubstr(home)));
  EXPECT_THAT(workplace.info({"--json", "--verbose"}, at_home).output, HasSubstr(home));
}

// "task blocked for more than 120 seconds in nvidia_uvm": a process that not even SIGKILL ends is left
// behind.
TEST_F(Cases, Case23DoesNotWaitForAnUnkillableProbe) {
  const Freezer freezer;
  if (!freezer.works())
    GTEST_SKIP() << "there is no freezer of control groups here, or it is not ours to use";
  repository.add(good_build());
  repository.write();
  workplace.configure(Json::object().set("repositories_default", false).set("probe_deadline_seconds", 1));
  const fs::path launcher = workplace.folder() / "stuck";
  write_text(launcher, "#!/bin/sh\n" + freezer.line());
  fs::permissions(launcher, fs::perms(0755));
  RunOptions options;
  options.environment = {"ENGINEHOST_PROBE_LAUNCHER=" + launcher.native()};
  const Ended run = open({}, options);
  EXPECT_FALSE(run.timed_out);
  EXPECT_EQ(run.status, 6) << run.said();
  const Json& diagnosis = run.candidate("reference-good")["diagnosis"];
  EXPECT_EQ(diagnosis["code"].as_string(), "EH-R05") << run.said();
  EXPECT_THAT(diagnosis.dump(), HasSubstr("restart the machine"));
  EXPECT_THAT(diagnosis.dump(), testing::Not(HasSubstr("\"tries\""))) << "a second would be stuck beside it";
}

// Tools read nvidia-smi's text, which changes from version to version and from card to card.
TEST_F(Cases, Case25ReadsNoProgramOutputMadeForPeople) {
  const fs::path program = workplace.folder() / "bin" / "nvidia-smi", mark = workplace.folder() / "was-asked";
  write_text(program, "#!/bin/sh\ntouch '" + mark.native() + "'\necho 'CUDA UMD Version: 9.9'\n");
  fs::permissions(program, fs::perms(0755));
  repository.add(for_cuda(faulty_build({{plugin, read_text(ENGINEHOST_DRIVER_PLUGIN)}}), "12.4", 90));
  repository.write();
  const Ended run = open(
      {}, with_driver({"FAKE_CU_VERSION=12040", "FAKE_CU_WORK=", "FAKE_GPUS=One;8.6;a0;8192|Two;8.6;b1;8192",
                       "PATH=" + program.parent_path().native() + ":/usr/bin:/bin"}));
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-cu124") << run.said();
  const Json& cuda = run.document["platform"]["cuda"];
  EXPECT_EQ(cuda["driver_cuda"]["value"].as_string(), "12.4");
  EXPECT_EQ(cuda["devices"]["value"].as_array().size(), 2u);
  EXPECT_FALSE(fs::exists(mark));
}

}  // namespace
}  // namespace enginehost::test
