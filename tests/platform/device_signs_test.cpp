// The signs of accelerators that appear or disappear.
#include "host/platform/detect.hpp"

#include <gmock/gmock.h>

#include "tests/platform/fixtures.hpp"

namespace enginehost::platform {
namespace {

using testing::ElementsAre;

TEST(DeviceSigns, AreDeviceFilesServedDevicesAndTheModulesVersion) {
  FakeRoot machine;
  machine.file("/dev/nvidia0", "").file("/dev/nvidiactl", "").file("/dev/null", "").file("/dev/kfd", "");
  machine.file("/dev/dri/renderD128", "").file("/dev/dri/card0", "");
  machine.folder("/proc/driver/nvidia/gpus/0000:01:00.0");
  machine.file("/sys/module/nvidia/version", "535.104.05\n");
  std::vector<std::string> paths;
  for (const auto& [path, value] : device_signs(machine.root())) paths.push_back(path);
  EXPECT_THAT(paths, ElementsAre("/dev/dri/renderD128", "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl",
                                 "/proc/driver/nvidia/gpus/0000:01:00.0", "/sys/module/nvidia/version"));
}

TEST(DeviceSigns, ThatChangeAreDescribed) {
  FakeRoot machine;
  machine.file("/dev/nvidia0", "").file("/sys/module/nvidia/version", "535.104.05\n");
  const auto before = device_signs(machine.root());
  EXPECT_TRUE(sign_changes(before, device_signs(machine.root())).empty());
  std::filesystem::remove(machine.on_disk("/dev/nvidia0"));
  machine.file("/dev/nvidia1", "").file("/sys/module/nvidia/version", "580.65.06\n");
  EXPECT_THAT(
      sign_changes(before, device_signs(machine.root())),
      ElementsAre("/dev/nvidia0 is gone", "/sys/module/nvidia/version was 535.104.05 and is 580.65.06",
                  "/dev/nvidia1 is there now"));
}

TEST(DeviceSigns, OfAMachineWithoutDevicesAreNone) {
  const FakeRoot machine;
  EXPECT_TRUE(device_signs(machine.root()).empty());
}

}  // namespace
}  // namespace enginehost::platform
