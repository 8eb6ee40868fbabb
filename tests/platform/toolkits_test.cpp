// CUDA toolkits and cuDNN: listed, and never part of a decision.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "host/platform/parts.hpp"
#include "tests/platform/fixtures.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::platform {
namespace {

using test::library_folder;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Removes the variables of the machine that runs the tests.
class Toolkits : public ::testing::Test {
 protected:
  FakeRoot machine;
  Variable home{"CUDA_HOME", nullptr}, path{"CUDA_PATH", nullptr}, programs{"PATH", "/usr/bin"};
  Fact<std::vector<Installed>> toolkits() {
    return detect_toolkits(machine.root(), LibrarySearch(machine.root()));
  }
  Fact<std::vector<Installed>> cudnn() {
    return detect_cudnn(machine.root(), LibrarySearch(machine.root()), toolkits().value());
  }
};

TEST_F(Toolkits, VersionComesFromVersionJson) {
  machine.file("/usr/local/cuda-12.9/version.json", R"({"cuda":{"name":"CUDA SDK","version":"12.9.1"}})")
      .link("/usr/local/cuda", "cuda-12.9");
  const auto fact = toolkits();
  ASSERT_THAT(fact.value(), SizeIs(1));
  EXPECT_EQ(fact.value()[0], (Installed{"12.9.1", "/usr/local/cuda-12.9", ""}));
}

TEST_F(Toolkits, VersionComesFromVersionTxtBeforeEleven) {
  machine.file("/usr/local/cuda-10.2/version.txt", "CUDA Version 10.2.89\n");
  EXPECT_EQ(toolkits().value().at(0).version, "10.2.89");
}

TEST_F(Toolkits, VersionComesFromTheHeaderWhenNothingElseHasIt) {
  machine.file("/usr/local/cuda-13.0/include/cuda.h", "/* … */\n#define CUDA_VERSION 13000\n");
  EXPECT_EQ(toolkits().value().at(0).version, "13.0");
}

TEST_F(Toolkits, AllOfThemAreListedOnceAndVariablesComeFirst) {
  const Variable chosen("CUDA_HOME", "/opt/toolkit");
  machine.file("/opt/toolkit/version.json", R"({"cuda":{"version":"11.8.0"}})");
  machine.file("/usr/local/cuda-12.4/version.json", R"({"cuda":{"version":"12.4.1"}})");
  machine.file("/usr/local/cuda-12.9/version.json", R"({"cuda":{"version":"12.9.0"}})");
  const auto fact = toolkits();
  ASSERT_THAT(fact.value(), SizeIs(3));
  EXPECT_EQ(fact.value()[0].version, "11.8.0");
  EXPECT_THAT(fact.source(), HasSubstr("CUDA_HOME"));
}

TEST_F(Toolkits, ThatOfTheCompilerInPathIsFound) {
  const Variable compilers("PATH", "/usr/bin:/opt/tools/bin");
  machine.file("/opt/nvidia/12/bin/nvcc", "").link("/opt/tools/bin/nvcc", "/opt/nvidia/12/bin/nvcc");
  machine.file("/opt/nvidia/12/include/cuda.h", "#define CUDA_VERSION 12040\n");
  EXPECT_EQ(toolkits().value().at(0), (Installed{"12.4", "/opt/nvidia/12", ""}));
}

TEST_F(Toolkits, AVariableThatLeadsToNoToolkitIsNoted) {
  const Variable chosen("CUDA_PATH", "/opt/empty");
  machine.folder("/opt/empty");
  EXPECT_THAT(toolkits().value().at(0).note, HasSubstr("ignored"));
}

TEST_F(Toolkits, AnOldRuntimeLibraryOnItsOwnIsNotedAndIgnored) {
  machine.copy(library_folder + "libcudart.so.6.5", FAKE_CUDA);
  const auto fact = toolkits();
  ASSERT_THAT(fact.value(), SizeIs(1));
  EXPECT_EQ(fact.value()[0].version, "6.5");
  EXPECT_THAT(fact.value()[0].note, HasSubstr("ignored"));
}

TEST_F(Toolkits, AStandInIsNoRuntimeAndHidesNone) {
  machine.copy(library_folder + "libcudart.so.13", FAKE_STAND_IN);
  EXPECT_TRUE(toolkits().is_absent());
  EXPECT_FALSE(LibrarySearch(machine.root()).find("libcudart.so.13"));
  machine.copy("/usr/lib/libcudart.so.13", FAKE_CUDA);
  ASSERT_THAT(toolkits().value(), SizeIs(1));
  EXPECT_EQ(toolkits().value()[0].version, "13");
}

// As after a build with stand-ins was opened: the loader would take the loaded file, and it is no runtime.
TEST_F(Toolkits, ALoadedStandInIsNoRuntime) {
  void* const loaded = dlopen(FAKE_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(loaded, nullptr) << dlerror();
  const auto found = LibrarySearch(Root()).find("libcudart.so.13");
  EXPECT_TRUE(!found || found->real_path != FAKE_STAND_IN);
  dlclose(loaded);
}

TEST_F(Toolkits, NoneIsAbsent) { EXPECT_TRUE(toolkits().is_absent()); }

TEST_F(Toolkits, ADamagedVersionFileIsNoVersion) {
  machine.file("/usr/local/cuda-12.9/version.json", "{\"cuda\":")
      .file("/usr/local/cuda-12.9/include/cuda.h", "x");
  EXPECT_EQ(toolkits().value().at(0).version, "");
}

TEST_F(Toolkits, CudnnVersionComesFromItsFileName) {
  machine.copy(library_folder + "libcudnn.so.8.9.7", FAKE_CUDA)
      .link(library_folder + "libcudnn.so.8", "libcudnn.so.8.9.7");
  const auto fact = cudnn();
  ASSERT_THAT(fact.value(), SizeIs(1));
  EXPECT_EQ(fact.value()[0].version, "8.9.7");
}

TEST_F(Toolkits, CudnnHeaderCompletesABareMajorNumber) {
  machine.file("/usr/local/cuda-13.0/include/cuda.h", "#define CUDA_VERSION 13000\n");
  machine.file("/usr/local/cuda-13.0/include/cudnn_version.h",
               "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 19\n#define CUDNN_PATCHLEVEL 0\n");
  machine.copy("/usr/local/cuda-13.0/lib64/libcudnn.so.9", FAKE_CUDA);
  EXPECT_EQ(cudnn().value().at(0).version, "9.19.0");
}

TEST_F(Toolkits, NoCudnnIsAbsent) { EXPECT_TRUE(cudnn().is_absent()); }

}  // namespace
}  // namespace enginehost::platform
