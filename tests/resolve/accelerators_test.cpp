// Builds for accelerators: requested as such, dependent on libraries of the system, and left out.
#include <gmock/gmock.h>

#include "host/resolve/describe.hpp"
#include "host/resolve/passed_over.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Platform a100 = with_gpus(ubuntu22, "535.104.05", "12.2", {{"A100", "8.0"}});

Request request_for(const std::string& engine = "pytorch") {
  Request request;
  request.engine = engine;
  return request;
}

// The catalog with one build that needs a library of the system.
manifest::Catalog asking_for(const std::string& library, const std::string& name) {
  manifest::Catalog offered = catalog();
  for (auto& build : offered.builds) {
    if (build->engine != "pytorch" || build->os != "linux" || build->version + "-" + build->flavor != name)
      continue;
    auto asking = std::make_shared<manifest::Build>(*build);
    asking->requires_.libraries = {library};
    build = asking;
  }
  return offered;
}

TEST(SystemLibraryTest, AnUnknownOneDoesNotRankABuildBelowTheCpu) {
  const manifest::Catalog offered = asking_for("libz.so.1", "2.8.0-cu129");
  const Plan plan = decide(a100, offered, {}, request_for(), now);
  std::vector<std::string> first = ranked(plan);
  ASSERT_GT(first.size(), 4u);
  first.resize(4);
  EXPECT_THAT(first, ElementsAre("2.8.0-cu128", "2.8.0-cu126", "2.8.0-cu129", "2.0.1-cu118"))
      << "behind its equals, and no further";
  const Candidate* candidate = find(plan, "2.8.0-cu129");
  ASSERT_NE(candidate, nullptr);
  EXPECT_EQ(decisive_check(*candidate)->requirement, "system library libz.so.1");
}

TEST(SystemLibraryTest, TheLoadersAnswerDecidesWhereItIsKnown) {
  const manifest::Catalog offered = asking_for("libz.so.1", "2.8.0-cu129");
  Platform machine = a100;
  machine.libraries =
      Fact<platform::Variables>::known({{"libz.so.1", "/lib/libz.so.1"}, {"libx.so.1", ""}}, "the loader");
  EXPECT_EQ(chosen(decide(machine, offered, {}, request_for(), now)), "2.8.0-cu129");
  machine.libraries = Fact<platform::Variables>::known({{"libz.so.1", ""}}, "the loader");
  const Plan without = decide(machine, offered, {}, request_for(), now);
  EXPECT_EQ(chosen(without), "2.8.0-cu128");
  const Candidate* rejected = find(without, "2.8.0-cu129");
  ASSERT_NE(rejected, nullptr);
  EXPECT_EQ(rejected->verdict, Verdict::rejected);
  EXPECT_EQ(rejected->diagnosis()->code, "EH-L01");
  EXPECT_EQ(rejected->diagnosis()->value(Key::library), "libz.so.1");
}

TEST(IdleAcceleratorTest, IsReportedWithTheNearestBuildAndWhatItLacks) {
  const auto reported = [](const Platform& machine, const Request& request) {
    const Plan plan = plan_for(machine, request);
    return idle_accelerator(plan, machine, *plan.candidates.at(0).build);
  };
  const Platform old_driver = with_gpus(ubuntu22, "390.157", "9.1", {{"GeForce GTX 1080", "6.1"}});
  const auto idle = reported(old_driver, request_for());
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->code, "EH-S24");
  EXPECT_EQ(idle->value(Key::accelerator), "GeForce GTX 1080");
  EXPECT_EQ(idle->value(Key::first_code), "EH-G03");
  EXPECT_THAT(std::string(idle->value(Key::reason)), HasSubstr("found driver 390.157"));
  EXPECT_FALSE(reported(a100, request_for())) << "a build for it is taken";
  EXPECT_FALSE(reported(ubuntu22, request_for())) << "there is none";
  Request processor = request_for();
  processor.flavor = "cpu";
  EXPECT_FALSE(reported(old_driver, processor)) << "the processor was asked for";
  processor.flavor.clear();
  processor.device = "cpu";
  EXPECT_FALSE(reported(old_driver, processor));
  EXPECT_FALSE(reported(old_driver, request_for("reference"))) << "this engine has no build for it";
  Platform silent = a100;
  silent.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("the driver did not answer within 15 s");
  silent.cuda.driver_cuda = Fact<std::string>::unknown("the driver did not answer within 15 s");
  silent.cuda.hardware = Fact<std::string>::known("10de:20b0", "/sys/bus/pci");
  const auto unknown = reported(silent, request_for());
  ASSERT_TRUE(unknown);
  EXPECT_THAT(std::string(unknown->value(Key::reason)), HasSubstr("not known"));
}

TEST(IdleAcceleratorTest, IsReportedForTheRequestedDeviceFirst) {
  const auto reported = [](const std::string& device) {
    Request request = request_for();
    request.device = device;
    const Plan plan = plan_for(ubuntu22, request);
    return idle_accelerator(plan, ubuntu22, *plan.candidates.at(0).build);
  };
  for (const char* constraint : {"cuda,cpu", "cuda:0,cpu", "gpu,cpu"}) {
    const auto idle = reported(constraint);
    ASSERT_TRUE(idle) << constraint;
    EXPECT_EQ(idle->code, "EH-S24");
    EXPECT_EQ(idle->value(Key::device),
              std::string(constraint).substr(0, std::string(constraint).find_first_of(":,")));
    EXPECT_EQ(idle->value(Key::first_code).substr(0, 4), "EH-G") << idle->value(Key::first_code);
    EXPECT_FALSE(idle->value(Key::reason).empty());
  }
  EXPECT_FALSE(reported("cpu,cuda")) << "the first that was wished for is opened";
  EXPECT_FALSE(reported(""));
}

TEST(RequestTest, AnyAcceleratorCanBeRequested) {
  Request request = request_for();
  request.device = "gpu";
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.8.0-cu129");
  EXPECT_EQ(code_of(plan_for(a100, request), "2.8.0-cpu"), "EH-S09");
  EXPECT_EQ(chosen(plan_for(ubuntu22, request)), "");
  request.device = "gpu,cpu";
  const Plan plan = plan_for(ubuntu22, request);
  EXPECT_EQ(chosen(plan), "2.8.0-cpu");
  EXPECT_EQ(chosen(plan_for(a100, request)), "2.8.0-cu129");
}

}  // namespace
}  // namespace enginehost::resolve
