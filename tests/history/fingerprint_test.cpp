#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/history/store.hpp"

namespace enginehost::history {
namespace {

TEST(Fingerprint, AnUnknownFactIsLeftOutAndAnAbsentOneIsNone) {
  platform::Platform platform;
  platform.os = platform::Fact<std::string>::known("linux", "uname");
  platform.cuda.driver = platform::Fact<std::string>::absent("/proc/driver/nvidia/version");
  const Fingerprint parts = host_fingerprint(platform);
  EXPECT_THAT(
      parts, ::testing::UnorderedElementsAre(std::pair<std::string, std::string>("operating system", "linux"),
                                             std::pair<std::string, std::string>("NVIDIA driver", "none")));
}

TEST(Fingerprint, DiffersWithAnotherDriver) {
  platform::Platform before, after;
  before.cuda.driver = platform::Fact<std::string>::known("535.1", "x");
  after.cuda.driver = platform::Fact<std::string>::known("580.2", "x");
  EXPECT_NE(host_fingerprint(before), host_fingerprint(after));
}

TEST(Fingerprint, WhereAFactWasReadDoesNotMatter) {
  platform::Platform before, after;
  before.cuda.driver = platform::Fact<std::string>::known("535.1", "/proc/driver/nvidia/version");
  after.cuda.driver = platform::Fact<std::string>::known("535.1", "nvmlSystemGetDriverVersion");
  EXPECT_EQ(host_fingerprint(before), host_fingerprint(after));
}

}  // namespace
}  // namespace enginehost::history
