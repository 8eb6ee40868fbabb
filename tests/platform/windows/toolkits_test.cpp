// CUDA toolkits and cuDNN on Windows: listed, and never part of a decision.
#include <gmock/gmock.h>

#include "host/platform/parts.hpp"
#include "tests/platform/variable.hpp"
#include "tests/platform/windows/fake_windows.hpp"
#include "tests/platform/windows/own_registry.hpp"

namespace enginehost::platform {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* version_of_11_8 = R"({"cuda":{"name":"CUDA SDK","version":"11.8.0"}})";
constexpr const char* usual = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA";

class WindowsToolkits : public testing::Test {
 protected:
  FakeWindows machine;
  Variable path{"CUDA_PATH", nullptr}, old{"CUDA_PATH_V11_8", nullptr}, home{"CUDA_HOME", nullptr},
      programs{"PATH", nullptr}, folder{"ProgramW6432", "C:\\Program Files"};
  Fact<std::vector<Installed>> toolkits(const Root& root) {
    return detect_toolkits(root, LibrarySearch(root));
  }
  Fact<std::vector<Installed>> toolkits() { return toolkits(machine.root()); }
};

TEST_F(WindowsToolkits, AreThoseOfVariablesAndTheUsualFolderOnce) {
  const std::string first = std::string(usual) + "\\v11.8", second = std::string(usual) + "\\v12.4";
  machine.file(first + "\\version.json", version_of_11_8);
  machine.file(second + "\\include\\cuda.h", "#define CUDA_VERSION 12040\n");
  const Variable chosen("CUDA_PATH", (first + "\\").c_str()), again("CUDA_PATH_V11_8", first.c_str());
  const auto fact = toolkits();
  ASSERT_THAT(fact.value(), SizeIs(2));
  EXPECT_EQ(fact.value()[0], (Installed{"11.8.0", first, ""}));
  EXPECT_EQ(fact.value()[1], (Installed{"12.4", second, ""}));
  EXPECT_THAT(fact.source(), HasSubstr("CUDA_PATH, "));
}

TEST_F(WindowsToolkits, AnInstallersEntryInTheRegistryLeadsToOne) {
  const test::TemporaryFolder installed;
  test::write_text(installed / "version.json", version_of_11_8);
  OwnRegistry registry;
  const std::string key = "SOFTWARE\\NVIDIA Corporation\\GPU Computing Toolkit\\CUDA\\v11.8";
  registry.text(key, "InstallDir", path_text(installed.path()) + "\\");
  const auto fact = toolkits(Root());
  ASSERT_THAT(fact.value(), SizeIs(1));
  EXPECT_EQ(fact.value()[0].version, "11.8.0");
  EXPECT_EQ(fact.source(), "registry: " + key);
  EXPECT_TRUE(toolkits().is_absent()) << "another root has no registry";
}

TEST_F(WindowsToolkits, ThatOfTheCompilerInPathIsFound) {
  machine.file("C:\\tools\\cuda\\bin\\nvcc.exe", "").file("C:\\tools\\cuda\\version.json", version_of_11_8);
  const Variable where("PATH", "C:\\elsewhere;C:\\tools\\cuda\\bin\\");
  EXPECT_EQ(toolkits().value().at(0), (Installed{"11.8.0", "C:\\tools\\cuda", ""}));
  EXPECT_EQ(toolkits().source(), "nvcc in PATH");
}

TEST_F(WindowsToolkits, ARuntimeWithoutItsToolkitIsNotedAndIgnored) {
  machine.dll("C:\\OldTool\\cudart64_65.dll", "driver");
  const Variable where("PATH", "C:\\OldTool");
  const auto fact = toolkits();
  ASSERT_THAT(fact.value(), SizeIs(1));
  EXPECT_EQ(fact.value()[0].version, "6.5");
  EXPECT_EQ(fact.value()[0].path, "C:\\OldTool\\cudart64_65.dll");
  EXPECT_THAT(fact.value()[0].note, HasSubstr("ignored: a CUDA runtime library without its toolkit (PATH)"));
}

TEST_F(WindowsToolkits, RuntimesKeepTheirNamesThroughCudaEleven) {
  std::vector<std::string> names;
  for (const char* version : {"13", "12", "11.0", "10.2", "10.0", "6.5"})
    names.push_back(runtime_file(version));
  for (const char* name : {"cudart64_13.dll", "cudart64_12.dll", "cudart64_110.dll", "cudart64_102.dll",
                           "cudart64_100.dll", "cudart64_65.dll"})
    EXPECT_THAT(names, testing::Contains(name));
}

TEST_F(WindowsToolkits, CudnnIsFoundInAToolkitAndItsVersionInItsHeader) {
  const std::string toolkit = std::string(usual) + "\\v13.0";
  machine.file(toolkit + "\\version.json", R"({"cuda":{"version":"13.0.2"}})");
  machine.dll(toolkit + "\\bin\\x64\\cudnn64_9.dll", "driver");
  machine.file(toolkit + "\\include\\cudnn_version.h",
               "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 13\n#define CUDNN_PATCHLEVEL 0\n");
  const auto fact = detect_cudnn(machine.root(), LibrarySearch(machine.root()), toolkits().value());
  ASSERT_THAT(fact.value(), SizeIs(1));
  EXPECT_EQ(fact.value()[0].version, "9.13.0");
}

TEST_F(WindowsToolkits, CudnnOfItsOwnInstallerIsFoundInPath) {
  const std::string cudnn = "C:\\Program Files\\NVIDIA\\CUDNN\\v9.8";
  machine.dll(cudnn + "\\bin\\12.8\\cudnn64_9.dll", "driver");
  const Variable where("PATH", (cudnn + "\\bin\\12.8").c_str());
  const auto cudnn_now = [&] {
    return detect_cudnn(machine.root(), LibrarySearch(machine.root()), toolkits().value()).value();
  };
  ASSERT_THAT(cudnn_now(), SizeIs(1));
  EXPECT_EQ(cudnn_now()[0].version, "9");
  machine.file(cudnn + "\\include\\cudnn_version.h",
               "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 8\n#define CUDNN_PATCHLEVEL 0\n");
  EXPECT_EQ(cudnn_now()[0].version, "9.8.0");
}

TEST_F(WindowsToolkits, NoneIsAbsentAndNamesTheSearchedFolders) {
  EXPECT_TRUE(toolkits().is_absent());
  EXPECT_THAT(toolkits().source(), HasSubstr("registry: SOFTWARE\\NVIDIA Corporation"));
}

}  // namespace
}  // namespace enginehost::platform
