// The better build that a plan passes over, and the one reason that is shown for it.
#include "host/resolve/passed_over.hpp"

#include <gtest/gtest.h>

#include "host/resolve/checks.hpp"
#include "host/resolve/describe.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

// "2.8.0-cu129: needs driver 525.60.13", or "" if nothing better exists.
std::string better(const Plan& plan) {
  const auto found = better_build(plan);
  return found ? short_name(*found->candidate) + ": " + found->reason : "";
}

manifest::Catalog without_plugin(const std::string& version) {
  manifest::Catalog offered = catalog();
  for (auto& build : offered.builds) {
    if (build->engine != "pytorch" || build->version != version) continue;
    auto changed = std::make_shared<manifest::Build>(*build);
    changed->not_built = "there is no adapter";
    build = changed;
  }
  return offered;
}

Request for_pytorch() {
  Request request;
  request.engine = "pytorch";
  return request;
}

TEST(PassedOverTest, NamesTheDriverThatABetterBuildNeeds) {
  const Platform old_driver = with_gpus(ubuntu22, "470.256.02", "11.4", {{"GeForce GTX 1080 Ti", "6.1"}});
  EXPECT_EQ(chosen(plan_for(old_driver)), "2.0.1-cu118");
  EXPECT_EQ(better(plan_for(old_driver)), "2.8.0-cu126: needs driver 525.60.13")
      << "the others have no code for the card";
}

TEST(PassedOverTest, NamesTheCodeThatABuildLacks) {
  const Platform v100 = with_gpus(ubuntu22, "580.65.06", "13.0", {{"Tesla V100", "7.0"}});
  EXPECT_EQ(better(plan_for(v100, "onnxruntime")), "1.27.0-cu13: no code for compute 7.0");
}

TEST(PassedOverTest, NamesMissingHardwareIfThatIsAll) {
  EXPECT_EQ(better(plan_for(ubuntu22)), "2.8.0-cu129: needs an NVIDIA GPU");
  Platform no_driver = ubuntu22;
  no_driver.cuda.hardware = Fact<std::string>::known("10de:2684", "/sys/bus/pci");
  EXPECT_EQ(better(plan_for(no_driver)), "2.8.0-cu129: needs an NVIDIA driver");
}

TEST(PassedOverTest, AdvisesNoNvidiaGpuBesideAnotherMakers) {
  Platform intel = ubuntu22;
  intel.other_gpus = Fact<std::string>::known("Intel 8086:56a0", "/sys/bus/pci/devices");
  EXPECT_EQ(better(plan_for(intel)), "");
  EXPECT_EQ(nearest_build(plan_for(intel, "pytorch"))->reason, "") << "the CPU build fits";
}

TEST(PassedOverTest, AdvisesNoGpuForAnOlderBuild) {
  manifest::Catalog offered = catalog();
  std::erase_if(offered.builds, [](const auto& build) {
    return build->version == "2.8.0" && build->flavor != "cpu";  // as a release for the processor only
  });
  const Plan plan = decide(ubuntu22, offered, {}, for_pytorch(), now);
  EXPECT_EQ(chosen(plan), "2.8.0-cpu");
  EXPECT_EQ(better(plan), "") << "2.0.1 for CUDA is older";
}

// A library of CUDA that one build lacks is no reason on a machine without a GPU.
TEST(PassedOverTest, TheReasonThatAllBuildsShareComesFirst) {
  Request request = for_pytorch();
  request.device = "gpu";
  const Plan plan = decide(ubuntu22, catalog(), {}, request, now);
  ASSERT_TRUE(plan.diagnosis);
  EXPECT_EQ(plan.diagnosis->value(Key::first_code), "EH-G01");
  for (const Candidate& candidate : plan.candidates) {
    if (main_device(*candidate.build) != "cuda" || !candidate.asked_for) continue;
    EXPECT_EQ(decisive_check(candidate)->code, "EH-G01") << candidate.build->id;
  }
}

TEST(PassedOverTest, PrefersABuildThatTheHardwareCouldRun) {
  const Plan plan = decide(ubuntu22, without_plugin("2.8.0"), {}, for_pytorch(), now);
  EXPECT_EQ(chosen(plan), "2.0.1-cpu");
  EXPECT_EQ(better(plan), "2.8.0-cpu: there is no adapter");
}

TEST(PassedOverTest, IsEmptyForTheBestBuild) {
  const Platform h100 = with_gpus(ubuntu22, "580.65.06", "13.0", {{"H100", "9.0"}});
  EXPECT_EQ(chosen(plan_for(h100)), "2.8.0-cu129");
  EXPECT_EQ(better(plan_for(h100)), "");
  EXPECT_EQ(better(plan_for(ubuntu22, "reference")), "");
}

TEST(PassedOverTest, ShowsTheNearestBuildWithItsCodeIfNothingFits) {
  const auto nearest = nearest_build(plan_for(musl_machine()));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->code, "EH-L29");
  EXPECT_EQ(nearest->reason.substr(0, 12), "needs glibc ");
  manifest::Catalog offered = without_plugin("2.8.0");
  std::erase_if(offered.builds, [](const auto& build) { return build->version != "2.8.0"; });
  const auto not_built = nearest_build(decide(ubuntu22, offered, {}, for_pytorch(), now));
  ASSERT_TRUE(not_built);
  EXPECT_EQ(std::string(text_of(not_built->code)) + " " + not_built->reason,
            "EH-S12 2.8.0 cpu: there is no adapter");
  EXPECT_FALSE(better_build(decide(ubuntu22, offered, {}, for_pytorch(), now))) << "nothing is chosen";
}

TEST(PassedOverTest, NamesTheSystemThatHasNoBuild) {
  const auto nearest = nearest_build(plan_for(mac_machine(), "reference"));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(std::string(text_of(nearest->code)) + " " + nearest->reason,
            "EH-S03 no build is for macos arm64");
}

TEST(PassedOverTest, CallsAnUnknownRequirementUncertain) {
  Platform silent = with_gpus(ubuntu22, "550.54.15", "12.4", {{"A100", "8.0"}});
  silent.cuda.driver = Fact<std::string>::unknown("the driver did not answer in 15 s");
  silent.cuda.driver_cuda = Fact<std::string>::unknown("the driver did not answer in 15 s");
  silent.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("the driver did not answer in 15 s");
  const Plan plan = plan_for(silent);
  EXPECT_EQ(chosen(plan), "2.8.0-cpu");
  EXPECT_EQ(better(plan), "2.8.0-cu129: not certain: the driver did not answer in 15 s");
}

TEST(PassedOverTest, NamesTheCauseOfAQuarantine) {
  history::History history;
  history::Record record;
  record.build = "pytorch-2.8.0-cpu-linux-x86_64";
  record.state = history::State::quarantined;
  for (const auto& build : catalog().builds)
    if (build->id == record.build) record.artifacts_digest = build->artifacts_digest();
  record.diagnosis = Json::object().set("code", "EH-R05");
  record.retry_after = now + 3600;
  history.records[record.build] = record;
  const Plan plan = decide(ubuntu22, catalog(), history, for_pytorch(), now);
  EXPECT_EQ(chosen(plan), "2.0.1-cpu");
  EXPECT_EQ(better(plan), "2.8.0-cpu: quarantined (EH-R05)");
}

TEST(PassedOverTest, PrefersTheDriverToALibraryOfCuda) {
  manifest::Catalog offered = catalog();
  for (auto& build : offered.builds) {
    if (!build->requires_.cuda) continue;
    auto changed = std::make_shared<manifest::Build>(*build);
    changed->requires_.libraries = {"libcublas.so.12"};
    build = changed;
  }
  Platform machine = ubuntu22;
  machine.libraries = Fact<platform::Variables>::known({{"libcublas.so.12", ""}}, "the loader");
  EXPECT_EQ(better(decide(machine, offered, {}, for_pytorch(), now)), "2.8.0-cu129: needs an NVIDIA GPU");
  machine = with_gpus(machine, "580.65.06", "13.0", {{"H100", "9.0"}});
  EXPECT_EQ(better(decide(machine, offered, {}, for_pytorch(), now)), "2.8.0-cu129: needs libcublas.so.12");
}

TEST(PassedOverTest, EachNewerVersionHasItsReason) {
  const auto newer_than = [](const Plan& plan) {
    std::vector<std::string> texts;
    for (const PassedOver& one : newer_passed_over(plan, plan.candidates.front()))
      texts.push_back(short_name(*one.candidate) + ": " + std::string(text_of(one.code)) + " " + one.reason);
    return texts;
  };
  const Plan plan = decide(ubuntu22, without_plugin("2.8.0"), {}, for_pytorch(), now);
  EXPECT_EQ(newer_than(plan), std::vector<std::string>{"2.8.0-cpu: EH-S12 there is no adapter"});
  EXPECT_TRUE(newer_than(plan_for(ubuntu22)).empty()) << "the newest is chosen";
  Request older = for_pytorch();
  older.version = "2.0";
  EXPECT_TRUE(newer_than(plan_for(ubuntu22, older)).empty()) << "the request excludes newer ones";
  const Platform old_driver = with_gpus(ubuntu22, "470.256.02", "11.4", {{"GeForce GTX 1080 Ti", "6.1"}});
  EXPECT_EQ(newer_than(plan_for(old_driver)),
            std::vector<std::string>{"2.8.0-cu126: EH-G03 needs driver 525.60.13"});
}

}  // namespace
}  // namespace enginehost::resolve
