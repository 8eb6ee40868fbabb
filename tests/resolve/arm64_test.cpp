// Jetson modules and arm64 servers: one architecture, two kinds of CUDA.
#include <gmock/gmock.h>

#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An engine as published for arm64: for servers on the package index, for Jetson by NVIDIA.
constexpr const char* vision = R"({
  "format": 1, "engine": "vision", "serial": 1, "created": "2026-11-20T00:00:00Z",
  "components": {
    "plugin": {"artifacts": [{"sha256": "1111111111111111111111111111111111111111111111111111111111111111",
      "size": 9, "archive": "none", "path": "libengine_vision.so", "sources": [{"file": "plugin"}]}]}},
  "builds": [
    {"id": "cpu", "version": "2.8.0", "flavor": "cpu", "os": "linux", "arch": "aarch64",
     "requires": {"glibc": ">=2.28", "cpu": ["asimd"]}, "plugin": {"component": "plugin", "path": "libengine_vision.so"},
     "components": []},
    {"id": "server-cu128", "version": "2.8.0", "flavor": "cu128", "os": "linux", "arch": "aarch64",
     "requires": {"glibc": ">=2.28", "cuda": {"toolkit": "12.8", "sass": ["8.0", "9.0", "10.0"], "ptx": ["12.0"],
                                              "target": "sbsa-linux"}},
     "plugin": {"component": "plugin", "path": "libengine_vision.so"}, "components": []},
    {"id": "server-cu130", "version": "2.8.0", "flavor": "cu130", "os": "linux", "arch": "aarch64",
     "requires": {"glibc": ">=2.28", "cuda": {"toolkit": "13.0", "sass": ["9.0", "10.0", "11.0"], "ptx": ["12.0"],
                                              "target": "sbsa-linux"}},
     "plugin": {"component": "plugin", "path": "libengine_vision.so"}, "components": []},
    {"id": "jetson-cu126", "version": "2.8.0", "flavor": "cu126", "os": "linux", "arch": "aarch64",
     "requires": {"glibc": ">=2.35", "cuda": {"toolkit": "12.6", "sass": ["8.7"], "target": "aarch64-linux"}},
     "plugin": {"component": "plugin", "path": "libengine_vision.so"}, "components": []},
    {"id": "jetson-cu129", "version": "2.8.0", "flavor": "cu129", "os": "linux", "arch": "aarch64",
     "requires": {"glibc": ">=2.35", "cuda": {"toolkit": "12.9", "sass": ["8.7"], "target": "aarch64-linux"}},
     "plugin": {"component": "plugin", "path": "libengine_vision.so"}, "components": []},
    {"id": "untold-cu126", "version": "2.7.0", "flavor": "cu126", "os": "linux", "arch": "aarch64",
     "requires": {"glibc": ">=2.28", "cuda": {"toolkit": "12.6", "sass": ["8.7", "9.0"]}},
     "plugin": {"component": "plugin", "path": "libengine_vision.so"}, "components": []}
  ]})";

const char* const orin = "linux-arm64-jetson-agx-orin-l4t36";
const char* const grace_hopper = "linux-arm64-server-gh200-driver570";

Platform with_hardware(Platform machine, const std::string& hardware) {
  machine.cuda.hardware = Fact<std::string>::known(hardware, "/etc/nv_tegra_release");
  return machine;
}

class Arm64 : public testing::Test {
 protected:
  Arm64() {
    auto parsed = manifest::read_manifest(*parse_json(vision, "vision"), "/repository", "vision");
    EXPECT_TRUE(parsed);
    if (parsed) merge(catalog_, *parsed);
  }
  Plan plan(const Platform& machine) {
    Request request;
    request.engine = "vision";
    return decide(machine, catalog_, {}, request, now);
  }
  static std::vector<std::string> ranked_ids(const Plan& plan) {
    std::vector<std::string> ids;
    for (const Candidate& candidate : plan.candidates)
      if (candidate.rank != 0) ids.push_back(candidate.build->id);
    return ids;
  }
  static const Candidate& of(const Plan& plan, const std::string& id) {
    for (const Candidate& candidate : plan.candidates)
      if (candidate.build->id == id) return candidate;
    ADD_FAILURE() << id;
    return plan.candidates.front();
  }
  // The observed value, or the reason why it is unknown, of the check about `what` with the result `result`.
  static std::string observed(const Candidate& candidate, Answer result, const std::string& what) {
    for (const Check& check : candidate.checks)
      if (check.result == result && check.requirement.find(what) != std::string::npos)
        return result == Answer::unknown ? check.source : check.observed;
    return "no such check";
  }
  manifest::Catalog catalog_;
};

TEST_F(Arm64, AJetsonGetsTheJetsonsBuildAndNoServers) {
  const Plan decided = plan(recorded(orin));
  EXPECT_EQ(ranked_ids(decided).front(), "jetson-cu126");
  for (const char* server : {"server-cu128", "server-cu130"}) {
    const Candidate& refused = of(decided, server);
    EXPECT_EQ(refused.rank, 0) << server;
    EXPECT_EQ(observed(refused, Answer::no, "an arm64 server"), "a Jetson (tegra234, L4T 36.4.3)") << server;
  }
}

TEST_F(Arm64, AServerGetsTheServersBuildAndNoJetsons) {
  const Plan decided = plan(recorded(grace_hopper));
  EXPECT_EQ(ranked_ids(decided), (std::vector<std::string>{"server-cu128", "untold-cu126", "cpu"}));
  for (const char* jetson : {"jetson-cu126", "jetson-cu129"})
    EXPECT_EQ(observed(of(decided, jetson), Answer::no, "a Jetson"), "no Jetson (10de:2342)") << jetson;
}

TEST_F(Arm64, AServerWithoutAGPUGetsTheCpuBuild) {
  Platform machine = recorded(grace_hopper);
  machine.cuda.hardware = Fact<std::string>::absent("/sys/bus/pci/devices");
  machine.cuda.driver = Fact<std::string>::absent("/proc/driver/nvidia/version");
  machine.cuda.driver_cuda = Fact<std::string>::absent("libcuda.so.1");
  machine.cuda.library = Fact<platform::Installed>::absent("libcuda.so.1");
  machine.cuda.devices = Fact<std::vector<CudaDevice>>::absent("/sys/bus/pci/devices");
  EXPECT_THAT(ranked_ids(plan(machine)), ElementsAre("cpu"));
}

TEST_F(Arm64, MinorVersionCompatibilityIsNotAssumedOnAJetson) {
  const Plan decided = plan(recorded(orin));
  const Candidate& newer = of(decided, "jetson-cu129");
  EXPECT_THAT(observed(newer, Answer::unknown, "CUDA 12.9"), HasSubstr("cuda-compat"));
  // Unknown ranks after known, whatever its CUDA.
  EXPECT_EQ(ranked_ids(decided),
            (std::vector<std::string>{"jetson-cu126", "cpu", "jetson-cu129", "untold-cu126"}));
}

TEST_F(Arm64, FactsMissingInTheManifestAreUnknownOnAJetsonOnly) {
  EXPECT_THAT(observed(of(plan(recorded(orin)), "untold-cu126"), Answer::unknown, "this Jetson"),
              HasSubstr("does not say"));
  EXPECT_EQ(observed(of(plan(recorded(grace_hopper)), "untold-cu126"), Answer::unknown, "Jetson"),
            "no such check");
}

TEST_F(Arm64, FromL4T38OnAJetsonTakesTheServersBuildOfCUDA13) {
  Platform thor =
      with_gpus(with_hardware(recorded(orin), "tegra264, L4T 38.2"), "580.00", "13.0", {{"Thor", "11.0"}});
  thor = with_hardware(thor, "tegra264, L4T 38.2");
  const Plan decided = plan(thor);
  EXPECT_EQ(ranked_ids(decided).front(), "server-cu130");
  EXPECT_NE(observed(of(decided, "server-cu128"), Answer::no, "an arm64 server"), "no such check");
}

TEST_F(Arm64, InAContainerTheKindIsKnownAndTheReleaseIsNot) {
  const Plan decided = plan(with_hardware(recorded(orin), "tegra234"));
  EXPECT_EQ(of(decided, "server-cu128").rank, 0);
  EXPECT_THAT(observed(of(decided, "jetson-cu126"), Answer::unknown, "a Jetson"),
              HasSubstr("the release of Linux for Tegra is unknown"));
}

TEST_F(Arm64, UnknownHardwareDecidesNothing) {
  Platform machine = recorded(grace_hopper);
  machine.cuda.hardware = Fact<std::string>::unknown("/sys/bus/pci/devices is not there");
  const Plan decided = plan(machine);
  EXPECT_EQ(observed(of(decided, "server-cu128"), Answer::unknown, "an arm64 server"),
            "/sys/bus/pci/devices is not there");
  EXPECT_EQ(observed(of(decided, "jetson-cu126"), Answer::unknown, "a Jetson"),
            "/sys/bus/pci/devices is not there");
}

TEST_F(Arm64, ARefusalNamesBothKinds) {
  const Plan decided = plan(recorded(orin));
  const Candidate& refused = of(decided, "server-cu128");
  EXPECT_EQ(code_of(decided, "2.8.0-cu128"), "EH-S21");
  for (const Check& check : refused.checks)
    if (check.code == "EH-S21") {
      ASSERT_EQ(check.evidence.size(), 2u);
      EXPECT_EQ(check.evidence[0].value, "an arm64 server (CUDA for sbsa-linux)");
      EXPECT_EQ(check.evidence[1].source, "/etc/nv_tegra_release");
      return;
    }
  ADD_FAILURE() << "no check with the code";
}

}  // namespace
}  // namespace enginehost::resolve
