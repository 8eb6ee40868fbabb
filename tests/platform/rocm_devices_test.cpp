// The variables that decide which AMD GPUs a process of ROCm gets, and as what.
#include <gmock/gmock.h>

#include "host/platform/platform.hpp"

namespace enginehost::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RocmDevices of(const std::vector<std::string>& gfx, Variables variables, std::vector<int> nodes = {}) {
  Platform machine;
  machine.os = Fact<std::string>::known("linux", "this program");
  machine.rocm = Fact<Rocm>::known({"6.2.0", gfx, std::move(nodes)}, "/sys/class/kfd");
  machine.loader_environment = Fact<Variables>::known(std::move(variables), "environment");
  return rocm_devices(machine);
}

std::vector<std::string> counted(const RocmDevices& found) {
  std::vector<std::string> names;
  for (const RocmDevice& device : found.devices) names.push_back(device.counts_as);
  return names;
}

TEST(GfxName, ConvertsInBothDirections) {
  EXPECT_EQ(gfx_name(10, 3, 1), "gfx1031");
  EXPECT_EQ(gfx_name(9, 0, 10), "gfx90a");
  for (const auto& [name, version] :
       {std::pair("gfx1030", "10.3.0"), {"gfx90a", "9.0.10"}, {"gfx900", "9.0.0"}, {"gfx1201", "12.0.1"}})
    EXPECT_EQ(gfx_version(name), version);
  for (const char* text : {"", "gfx", "gfx9", "sm_90", "gfxabc0z"}) EXPECT_EQ(gfx_version(text), "") << text;
}

TEST(HsaOverride, CountsForEveryDevice) {
  const RocmDevices found = of({"gfx1031", "gfx1030"}, {{"HSA_OVERRIDE_GFX_VERSION", "10.3.0"}});
  EXPECT_THAT(counted(found), ElementsAre("gfx1030", "gfx1030"));
  EXPECT_EQ(found.devices[0].gfx, "gfx1031");
  EXPECT_EQ(found.devices[0].variable, "HSA_OVERRIDE_GFX_VERSION=10.3.0");
  EXPECT_EQ(found.devices[1].variable, "") << "it already is one";
  EXPECT_THAT(counted(of({"gfx90c"}, {{"HSA_OVERRIDE_GFX_VERSION", "9.0.10"}})), ElementsAre("gfx90a"));
}

TEST(HsaOverride, OfOneNodeComesBeforeTheGeneralOne) {
  const Variables both = {{"HSA_OVERRIDE_GFX_VERSION", "10.3.0"}, {"HSA_OVERRIDE_GFX_VERSION_2", "11.0.0"}};
  const RocmDevices found = of({"gfx1031", "gfx1101"}, both, {1, 2});
  EXPECT_THAT(counted(found), ElementsAre("gfx1030", "gfx1100"));
  EXPECT_EQ(found.devices[1].variable, "HSA_OVERRIDE_GFX_VERSION_2=11.0.0");
  EXPECT_THAT(counted(of({"gfx1031", "gfx1101"}, {{"HSA_OVERRIDE_GFX_VERSION_1", "10.3.0"}}, {1, 2})),
              ElementsAre("gfx1030", "gfx1101"));
  // Node 0 is a processor.
  EXPECT_THAT(counted(of({"gfx1031"}, {{"HSA_OVERRIDE_GFX_VERSION_0", "10.3.0"}}, {1})),
              ElementsAre("gfx1031"));
  EXPECT_THAT(of({"gfx1031"}, both).unknown, HasSubstr("HSA_OVERRIDE_GFX_VERSION_2"));
}

TEST(HsaOverride, AnotherFormStopsTheRuntime) {
  for (const char* value : {"", "abc", "10.3", "10.3.0.1", "10.3.x", "64.0.0", "10.256.0", "gfx1030"})
    EXPECT_THAT(of({"gfx1031"}, {{"HSA_OVERRIDE_GFX_VERSION", value}}).invalid,
                HasSubstr("HSA_OVERRIDE_GFX_VERSION="))
        << value;
}

struct Listed {
  const char *variable, *value;
  std::vector<std::string> visible;
};

TEST(RocmVisibleDevices, EachFormOfEachVariable) {
  const std::vector<std::string> all = {"gfx1031", "gfx1100", "gfx90a"};
  const Listed cases[] = {
      {"ROCR_VISIBLE_DEVICES", "", {}},
      {"ROCR_VISIBLE_DEVICES", "0", {"gfx1031"}},
      {"ROCR_VISIBLE_DEVICES", " 2 , 0", {"gfx90a", "gfx1031"}},
      {"ROCR_VISIBLE_DEVICES", "0,0,1", {"gfx1031"}},
      {"ROCR_VISIBLE_DEVICES", "1,3,0", {"gfx1100"}},
      {"ROCR_VISIBLE_DEVICES", "-1", {}},
      {"ROCR_VISIBLE_DEVICES", "NoDevFiles", {}},
      {"HIP_VISIBLE_DEVICES", "", {"gfx1031", "gfx1100", "gfx90a"}},
      {"HIP_VISIBLE_DEVICES", "2,1", {"gfx90a", "gfx1100"}},
      {"HIP_VISIBLE_DEVICES", "0,0,1", {"gfx1031", "gfx1100"}},
      {"HIP_VISIBLE_DEVICES", "-1", {}},
      {"CUDA_VISIBLE_DEVICES", "1", {"gfx1100"}},
      {"CUDA_VISIBLE_DEVICES", "", {"gfx1031", "gfx1100", "gfx90a"}},
      {"GPU_DEVICE_ORDINAL", "1", {"gfx1031", "gfx1100", "gfx90a"}},
  };
  for (const Listed& one : cases) {
    const RocmDevices found = of(all, {{one.variable, one.value}});
    EXPECT_EQ(counted(found), one.visible) << one.variable << "=" << one.value;
    EXPECT_EQ(found.hidden_by.empty(), one.visible.size() == all.size()) << one.variable << "=" << one.value;
    EXPECT_EQ(found.unknown, "");
  }
}

TEST(RocmVisibleDevices, HipCountsWithinWhatRocrLeaves) {
  const RocmDevices found =
      of({"gfx1031", "gfx1100", "gfx90a"},
         {{"CUDA_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}, {"ROCR_VISIBLE_DEVICES", "2,1"}});
  EXPECT_THAT(counted(found), ElementsAre("gfx90a"));
  EXPECT_EQ(found.hidden_by, "HIP_VISIBLE_DEVICES=0");
}

TEST(RocmVisibleDevices, AUuidCannotBeJudgedFromARecord) {
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"})
    EXPECT_THAT(of({"gfx1031"}, {{name, "GPU-4b2c1a9f8d3e6f7a"}}).unknown, HasSubstr(name));
}

TEST(RocmVisibleDevices, WindowsHasOnlyThoseOfHip) {
  Platform machine;
  machine.os = Fact<std::string>::known("windows", "GetVersion");
  machine.rocm = Fact<Rocm>::known({"6.2.0", {"gfx1031"}, {}}, "SetupAPI");
  machine.loader_environment = Fact<Variables>::known(
      {{"HSA_OVERRIDE_GFX_VERSION", "10.3.0"}, {"ROCR_VISIBLE_DEVICES", ""}}, "environment");
  EXPECT_THAT(counted(rocm_devices(machine)), ElementsAre("gfx1031"));
  machine.loader_environment = Fact<Variables>::known({{"HIP_VISIBLE_DEVICES", "-1"}}, "environment");
  EXPECT_THAT(counted(rocm_devices(machine)), IsEmpty());
}

}  // namespace
}  // namespace enginehost::platform
