// The driver query, with a DLL that stands in for NVIDIA's.
#include <gmock/gmock.h>

#include <chrono>

#include "host/platform/detect.hpp"
#include "tests/platform/variable.hpp"
#include "tests/platform/windows/fake_windows.hpp"

namespace enginehost::platform {
namespace {

using ::testing::HasSubstr;

class WindowsDriver : public testing::Test {
 protected:
  WindowsDriver() {
    machine.dll(system_folder() + "\\nvcuda.dll", "nvcuda");
    request.root = machine.path();
    request.helper = path_of(ENGINEHOST_PROBE);
  }
  Cuda ask() { return detect(request).cuda; }
  FakeWindows machine;
  DetectRequest request;
  Variable visible{"CUDA_VISIBLE_DEVICES", nullptr}, path{"PATH", nullptr};
};

TEST_F(WindowsDriver, ReportsItsNewestCudaAndItsDevices) {
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.driver_cuda.value(), "13.2") << cuda.driver_cuda.why();
  EXPECT_THAT(cuda.driver_cuda.source(), HasSubstr("cuDriverGetVersion of "));
  EXPECT_THAT(cuda.driver_cuda.source(), HasSubstr("\\nvcuda.dll"));
  EXPECT_EQ(cuda.init.value(), "0");
  ASSERT_EQ(cuda.devices.value().size(), 1u);
  EXPECT_EQ(cuda.devices.value()[0], (CudaDevice{0, "Fake GPU", "12.0", "", std::uint64_t{32} << 30, true}));
}

TEST_F(WindowsDriver, ThatFailsIsUnknownWithItsNumber) {
  const Variable answer("FAKE_CU_INIT", "999");
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.devices.why(), "cuInit said 999 (unknown error)");
  EXPECT_EQ(cuda.driver_cuda.value(), "13.2");
}

TEST_F(WindowsDriver, ThatHangsIsUnknownWithinItsDeadline) {
  const Variable hang("FAKE_CU_HANG", "1");
  request.driver_deadline = std::chrono::milliseconds(2000);
  const auto begin = std::chrono::steady_clock::now();
  const Cuda cuda = ask();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_EQ(cuda.devices.why(), "the driver did not answer in 2 s");
  EXPECT_EQ(cuda.driver_cuda.value(), "13.2") << "read before the call that hung";
}

TEST_F(WindowsDriver, ThatCrashesDoesNotEndTheHost) {
  const Variable crash("FAKE_CU_CRASH", "1");
  EXPECT_THAT(ask().devices.why(),
              HasSubstr("the driver's library crashed the probe (exception 0xC0000005)"));
}

}  // namespace
}  // namespace enginehost::platform
