// Cases of users of other systems; the test names have their numbers.
#include <gmock/gmock.h>

#include "host/resolve/describe.hpp"
#include "tests/resolve/machines.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::resolve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A toolkit's cudart64_65.dll on PATH was read as CUDA "6.5" and led to a cpu build on an RTX 5090 with
// driver 595.
TEST(CasesTest, Case01AnAncientCudartOnPathDoesNotDecide) {
  Platform machine = with_gpus(windows_machine(), "595.79", "13.2", {{"RTX 5090", "12.0"}});
  machine.cuda.toolkits = Fact<std::vector<platform::Installed>>::known(
      {{"6.5", "C:/tools/cudart64_65.dll", "ignored: a toolkit never decides"}}, "PATH");
  EXPECT_EQ(chosen(plan_for(machine)), "2.8.0-cu128");
}

// The same from a user's report: the recorded machine names the file that is ignored.
TEST(CasesTest, Case01TheRecordedMachineNamesTheFileThatIsIgnored) {
  const std::string file = test::source_path("/tests/profiles/windows11-cudart65-driver595-rtx5090.json");
  const auto text = read_file(file);
  ASSERT_TRUE(text);
  const auto document = parse_json(*text, file);
  ASSERT_TRUE(document);
  const auto machine = platform::platform_from_json(*document, file);
  ASSERT_TRUE(machine);
  EXPECT_EQ(chosen(plan_for(*machine)), "2.8.0-cu128");
  EXPECT_THAT(platform::to_json(*machine)["cuda"]["toolkits"].dump(), HasSubstr("cudart64_65.dll"));
  EXPECT_EQ(machine->cuda.driver.value(), "595.79");
}

// When a cuNNN build fails to load, the next one and finally cpu are already in the plan.
TEST(CasesTest, Case06ThePlanContinuesWithTheNextBuildAndCpu) {
  const Plan plan = plan_for(with_gpus(ubuntu22, "580.82.07", "13.0", {{"RTX 4090", "8.9"}}));
  EXPECT_EQ(ranked(plan).front(), "2.8.0-cu129");
  EXPECT_THAT(ranked(plan), Contains("2.8.0-cu128"));
  EXPECT_EQ(ranked(plan).back(), "2.0.1-cpu");
  int rank = 0;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.rank != 0) {
      EXPECT_EQ(candidate.rank, ++rank);
      EXPECT_EQ(candidate.verdict, rank == 1 ? Verdict::chosen : Verdict::fits);
    }
}

TEST(CasesTest, Case10DetectionAndChoiceNeedTheDriverAndNoToolkit) {
  Platform machine = with_gpus(ubuntu20, "535.104.05", "12.2", {{"A100", "8.0"}});
  machine.cuda.toolkits = Fact<std::vector<platform::Installed>>::absent("/usr/local");
  machine.cuda.cudnn = Fact<std::vector<platform::Installed>>::absent("/usr/lib");
  EXPECT_EQ(chosen(plan_for(machine)), "2.8.0-cu129");
}

TEST(CasesTest, Case12OfflineTheBestInstalledBuildIsChosen) {
  Request request;
  request.engine = "pytorch";
  request.offline = true;
  request.installed = {"pytorch-2.0.1-cu117-linux-x86_64", "pytorch-2.0.1-cpu-linux-x86_64"};
  const Plan plan = plan_for(with_gpus(ubuntu22, "535.104.05", "12.2", {{"A100", "8.0"}}), request);
  EXPECT_THAT(ranked(plan), ElementsAre("2.0.1-cu117", "2.0.1-cpu"));
  EXPECT_EQ(code_of(plan, "2.8.0-cu129"), "EH-S13");
  EXPECT_EQ(find(plan, "2.8.0-cu129")->verdict, Verdict::unavailable);
}

TEST(CasesTest, Case16AnOldGlibcGetsABuildMadeForItOrAClearRefusal) {
  EXPECT_EQ(chosen(plan_for(centos7)), "2.0.1-cpu");
  Request request;
  request.engine = "pytorch";
  request.version = "2.8";
  const Plan plan = plan_for(centos7, request);
  ASSERT_TRUE(plan.diagnosis);
  EXPECT_EQ(plan.diagnosis->code, "EH-S01");
  EXPECT_EQ(plan.diagnosis->value(Key::build), "pytorch-2.8.0-cpu-linux-x86_64")
      << "the others need a GPU, too";
  EXPECT_EQ(plan.diagnosis->value(Key::reason), "needs glibc >= 2.28, found 2.17");
  EXPECT_EQ(plan.diagnosis->values(Key::candidate).size(), 5u);
}

TEST(CasesTest, Case20CodeForTheCardIsPartOfTheChoiceAndIsReported) {
  const Plan plan = plan_for(with_gpus(ubuntu22, "570.124.06", "12.8", {{"RTX 5080", "12.0"}}));
  EXPECT_EQ(chosen(plan), "2.8.0-cu128");
  const Candidate* refused = find(plan, "2.8.0-cu126");
  ASSERT_TRUE(refused->diagnosis());
  EXPECT_EQ(refused->diagnosis()->code, "EH-G05");
  EXPECT_EQ(refused->diagnosis()->value(Key::device), "RTX 5080");
  EXPECT_EQ(refused->diagnosis()->value(Key::compute_capability), "12.0");
  EXPECT_EQ(refused->diagnosis()->value(Key::sass), "5.0 6.0 7.0 7.5 8.0 8.6 9.0");
}

// A choice made on a login node without GPU was frozen for the compute node; here the platform is an
// argument.
TEST(CasesTest, Case21TheSameRequestIsDecidedPerMachine) {
  EXPECT_EQ(chosen(plan_for(ubuntu22)), "2.8.0-cpu");
  EXPECT_EQ(chosen(plan_for(with_gpus(ubuntu22, "535.104.05", "12.2", {{"A100", "8.0"}}))), "2.8.0-cu129");
}

// Hidden devices were read as "no CUDA"; the driver's version is a separate fact.
TEST(CasesTest, Case24HiddenDevicesAreReportedAsHidden) {
  const Platform machine = with_gpus(ubuntu22, "535.104.05", "12.2", {{"A100", "8.0"}, {"A100", "8.0"}});
  for (const char* value : {"", "-1", "0,0", "7", "GPU-ffff"}) {
    const Plan plan = plan_for(with_visible(machine, value));
    EXPECT_EQ(chosen(plan), "2.8.0-cpu") << value;
    const Candidate* hidden = find(plan, "2.8.0-cu126");
    EXPECT_EQ(hidden->checks.at(4).requirement, "NVIDIA driver for CUDA 12.6");
    EXPECT_EQ(hidden->checks.at(4).result, Answer::yes)
        << "the driver is there: " << hidden->checks.at(4).requirement;
    ASSERT_TRUE(hidden->diagnosis());
    EXPECT_EQ(hidden->diagnosis()->code, "EH-G07") << value;
    EXPECT_EQ(hidden->diagnosis()->value(Key::visible_devices), value);
    EXPECT_EQ(hidden->diagnosis()->value(Key::devices), "2");
  }
  EXPECT_EQ(chosen(plan_for(with_visible(machine, "1"))), "2.8.0-cu129");
}

}  // namespace
}  // namespace enginehost::resolve
