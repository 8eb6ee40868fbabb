// The CUDA engine's build for Windows with NVIDIA's published wheels, forced, because Wine has no driver:
// every library of the build is fetched, verified and loaded, and CUDA reports the missing driver.
// wheel_repository.py fetches the wheels beforehand; "skipped" where it could not.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

TEST(CudaForWindows, IsFetchedAndLoadedAndReportsTheMissingDriver) {
  const std::string repository = ENGINEHOST_CUDA_WHEELS;
  if (!std::filesystem::exists(path_of(repository) / "index.json"))
    GTEST_SKIP() << "there are no wheels at " << repository;
  if (::LoadLibraryExW(L"nvcuda.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32) != nullptr)
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  const Workplace workplace;
  RunOptions options;
  options.deadline = std::chrono::minutes(10);
  const Ended run =
      workplace.info({"cuda", "--json", "--repository", repository, "--force",
                      "cuda-" ENGINEHOST_VERSION "-cu130-windows-x86_64", "--accept-license",
                      "LicenseRef-NVIDIA-CUDA-EULA", "--accept-license", "LicenseRef-NVIDIA-cuDNN-SLA"},
                     options);
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.code(), "EH-G01") << run.said();
  EXPECT_EQ(evidence(run.diagnosis(), "stage"), "selftest");
  EXPECT_EQ(evidence(run.diagnosis(), "call"), "cudaGetDeviceCount");
  EXPECT_THAT(evidence(run.diagnosis(), "message"), HasSubstr("There is no NVIDIA driver for CUDA 13.0"));
}

}  // namespace
}  // namespace enginehost::test
