// From the driver's results under CUDA_VISIBLE_DEVICES to the devices of a plan.
#include <gmock/gmock.h>

#include "host/platform/parts.hpp"
#include "host/resolve/cuda.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;

constexpr const char* slow = R"({"index":0,"name":"GT 710","compute_capability":"3.5","uuid":"GPU-slow"})";
constexpr const char* fast = R"({"index":1,"name":"RTX 4090","compute_capability":"8.9","uuid":"GPU-fast"})";

Platform answered(const std::string& variable, const std::string& shown, const std::string& nvml) {
  Platform machine = with_visible(ubuntu22, variable);
  machine.cuda.driver = Fact<std::string>::known("580.65.06", "/proc/driver/nvidia/version");
  const std::string text =
      R"({"cuda":{"library":{"path":"/usr/lib/libcuda.so.1"},"init":{"code":0},"driver_version":{"code":0,"value":13000},)"
      R"("devices":[)" +
      shown + R"(]},"nvml":{"devices":[)" + nvml + "]}}";
  const auto answer = parse_json(text, "the probe's answer");
  EXPECT_TRUE(answer) << text;
  if (answer) platform::apply_driver_answer(*answer, "", machine.cuda);
  return machine;
}

std::vector<std::string> names(const Platform& machine) {
  std::vector<std::string> names;
  for (const CudaDevice* device : visible_devices(machine.cuda).devices) names.push_back(device->name);
  return names;
}

// A container without NVML: the driver counts the visible devices from 0.
TEST(ShownDevicesTest, ADriverAloneReportsVisibleDevices) {
  const std::string only = R"({"index":0,"name":"RTX 4090","compute_capability":"8.9","uuid":"GPU-fast"})";
  const Platform machine = answered("1", only, "");
  EXPECT_THAT(names(machine), ElementsAre("RTX 4090"));
  EXPECT_EQ(chosen(plan_for(machine)), "2.8.0-cu129");
}

// CUDA lists the fastest card first, NVML the first on the bus (CUDA_DEVICE_ORDER).
TEST(ShownDevicesTest, TheDriversNumbersAreNotThoseOfNvml) {
  const std::string shown = R"({"index":0,"name":"RTX 4090","compute_capability":"8.9","uuid":"GPU-fast"})";
  const Platform machine = answered("0", shown, std::string(slow) + "," + fast);
  EXPECT_THAT(names(machine), ElementsAre("RTX 4090"));
  EXPECT_EQ(machine.cuda.devices.value().size(), 2u);
  EXPECT_EQ(chosen(plan_for(machine)), "2.8.0-cu129");
}

TEST(ShownDevicesTest, SeveralAreInTheDriversOrder) {
  const std::string shown = R"({"index":0,"name":"RTX 4090","compute_capability":"8.9","uuid":"GPU-fast"},)"
                            R"({"index":1,"name":"GT 710","compute_capability":"3.5","uuid":"GPU-slow"})";
  EXPECT_THAT(names(answered("0,1", shown, std::string(slow) + "," + fast)),
              ElementsAre("RTX 4090", "GT 710"));
}

}  // namespace
}  // namespace enginehost::resolve
