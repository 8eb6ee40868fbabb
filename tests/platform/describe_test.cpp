#include "host/platform/platform.hpp"

#include <gmock/gmock.h>

#include "base/text.hpp"
#include "tests/platform/full_platform.hpp"

namespace enginehost::platform {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(Describe, EveryFactHasItsLine) {
  const std::string text = describe(full_platform());
  for (const char* name : {"os ", "distribution ", "cuda.driver ", "cuda.driver_cuda ", "cuda.devices ",
                           "rocm ", "wsl ", "loader_environment "})
    EXPECT_THAT("\n" + text, HasSubstr(std::string("\n") + name));
}

TEST(Describe, KnownAbsentAndUnknownReadDifferently) {
  const std::string text = describe(full_platform());
  EXPECT_THAT(text, ContainsRegex("libc +glibc 2.39 +\\(gnu_get_libc_version\\)"));
  EXPECT_THAT(text, ContainsRegex("page_size +64 KiB +\\(sysconf"));
  EXPECT_THAT(text, ContainsRegex("metal +none +\\(not macOS\\)"));
  EXPECT_THAT(text, ContainsRegex("wsl +unknown \\(the kernel's release is not known\\)"));
}

TEST(Describe, DevicesThatNoVariableHidesAreAllVisible) {
  Platform platform = full_platform();
  EXPECT_THAT(describe(platform),
              ContainsRegex("cuda.visible_devices +GPU-11111111 +\\(CUDA_VISIBLE_DEVICES\\)"));
  platform.cuda.visible_devices = Fact<std::string>::absent("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(describe(platform),
              ContainsRegex("cuda.visible_devices +all +\\(CUDA_VISIBLE_DEVICES is not set\\)"));
  platform.cuda.visible_devices = Fact<std::string>::known("", "CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(describe(platform), ContainsRegex("cuda.visible_devices +\"\" +\\(CUDA_VISIBLE_DEVICES\\)"));
}

TEST(Describe, ListsHaveALinePerElementAndMarkHiddenOnes) {
  const std::string text = describe(full_platform());
  EXPECT_THAT(text, HasSubstr("0: NVIDIA A100-SXM4-40GB, compute capability 8.0, 40 GiB"));
  EXPECT_THAT(text, HasSubstr("1: NVIDIA A100-SXM4-40GB, compute capability 8.0, 40 GiB, hidden"));
  EXPECT_THAT(text, HasSubstr("6.5 in /opt/old, ignored"));
}

TEST(Describe, ValuesAreAligned) {
  std::size_t column = 0;
  for (const std::string& line : split(describe(full_platform()), '\n')) {
    if (line.empty()) continue;
    const std::size_t gap = line.find("  ");
    const std::size_t value = line.find_first_not_of(' ', gap);
    if (column == 0) column = value;
    EXPECT_EQ(value, column) << line;
  }
}

TEST(Describe, LongValuesStayWhole) {
  Platform platform = full_platform();
  const std::string long_value(2000, 'x');
  platform.loader_environment = Fact<Variables>::known({{"NVIDIA_REQUIRE_CUDA", long_value}}, "environment");
  EXPECT_THAT(describe(platform), HasSubstr("NVIDIA_REQUIRE_CUDA=" + long_value));
}

TEST(Describe, FeaturesAndUuidsAreListed) {
  EXPECT_THAT(describe(full_platform()), HasSubstr("avx avx2 fma"));
  EXPECT_THAT(describe(full_platform()), HasSubstr("GPU-11111111-2222"));
}

}  // namespace
}  // namespace enginehost::platform
