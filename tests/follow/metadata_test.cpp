#include "tools/follow/metadata.hpp"

#include <gtest/gtest.h>

namespace enginehost::follow {
namespace {

const Target linux_x86{"linux", "x86_64", {"cudart"}};

TEST(Marker, HoldsForTheSystemThatItNames) {
  for (const char* marker :
       {"", "platform_system == \"Linux\"", "platform_system == 'Linux' and platform_machine == 'x86_64'",
        "(sys_platform == 'linux' or sys_platform == 'win32') and extra == 'cudart'", "os_name != 'nt'",
        "extra == 'CudaRT'", "python_version < '3.9' or platform_system == 'Linux'",
        "sys_platform in 'linux darwin'"})
    EXPECT_EQ(holds(marker, linux_x86), std::optional(true)) << marker;
  for (const char* marker : {"platform_system == 'Windows'", "extra == 'all'",
                             "python_version < '3.9' and sys_platform == 'win32'",
                             "platform_machine == 'aarch64'", "sys_platform not in 'linux'"})
    EXPECT_EQ(holds(marker, linux_x86), std::optional(false)) << marker;
  EXPECT_EQ(holds("platform_machine == 'AMD64'", {"windows", "x86_64", {}}), std::optional(true));
  EXPECT_EQ(holds("platform_system == 'Darwin'", {"macos", "arm64", {}}), std::optional(true));
}

TEST(Marker, IsUnknownWhereItCannotBeDecided) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "(";
  for (const std::string& marker :
       {std::string("python_version < '3.15'"), std::string("platform_system = 'Linux'"),
        std::string("(os_name == 'posix'"),
        std::string("platform_release == '6' and platform_system == 'Linux'"),
        std::string("os_name == 'posix"), std::string("os_name == 'posix' or"), deep})
    EXPECT_EQ(holds(marker, linux_x86), std::nullopt) << marker.substr(0, 80);
}

TEST(Metadata, ListsRequirementsBeforeTheDescription) {
  const auto read = read_metadata(
      "Metadata-Version: 2.1\r\nName: Toy_Engine\nVersion: 1.0\n"
      "Requires-Dist: cuda-toolkit[Cudart, nvrtc]==13.0.2; platform_system == \"Linux\"\n"
      "Requires-Dist: nvidia.cublas (<=13.1.1.3, >=13.1.0.3)\n"
      "Description: a\n  Requires-Dist: folded\n\nRequires-Dist: described\n");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->project, "toy-engine");
  ASSERT_EQ(read->requirements.size(), 2u);
  EXPECT_EQ(read->requirements[0].project, "cuda-toolkit");
  EXPECT_EQ(read->requirements[0].extras, (std::vector<std::string>{"cudart", "nvrtc"}));
  EXPECT_EQ(read->requirements[0].versions, "==13.0.2");
  EXPECT_EQ(read->requirements[0].marker, "platform_system == \"Linux\"");
  EXPECT_EQ(read->requirements[1].project, "nvidia-cublas");
  EXPECT_EQ(read->requirements[1].versions, "<=13.1.1.3,>=13.1.0.3");
}

TEST(Metadata, RefusesWhatNamesNothing) {
  EXPECT_FALSE(read_metadata("Name: toy\n"));
  EXPECT_FALSE(read_metadata("Name: toy\nVersion: one\n"));
  EXPECT_FALSE(read_metadata("Name: toy\nVersion: 1\nRequires-Dist: ==1.0\n"));
  std::string many = "Name: toy\nVersion: 1\n";
  for (int i = 0; i < 10'001; ++i) many += "Requires-Dist: a\n";
  EXPECT_FALSE(read_metadata(many));
}

}  // namespace
}  // namespace enginehost::follow
