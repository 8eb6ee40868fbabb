// Libraries that must come from one place, libraries that are opened by name, and needs of a device file or
// GPU code: likely failures, reported as warnings or doubts and left to the probe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/preflight/helpers.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MixedCudaSources : public ::testing::Test {
 protected:
  std::filesystem::path part(const std::string& file, const std::string& more = {}) {
    const std::string soname = std::filesystem::path(file).filename();
    return workshop_.library(file, "int part(void){return 1;}", "-Wl,-soname," + soname + " " + more);
  }
  std::string needs(const std::filesystem::path& library) {
    return "-Wl,--no-as-needed " + faults::quoted(library) + " -Wl,--allow-shlib-undefined ";
  }
  // Files in "build" are the build; "outside" is on LD_LIBRARY_PATH.
  Report judged(const std::string& flags) {
    const auto plugin = workshop_.plugin("build/libengine_x.so", flags);
    Spec spec = build(workshop_, plugin, {"build/lib"});
    spec.view = workshop_.path("build");
    spec.machine.library_path = {workshop_.path("outside").native()};
    spec.machine.library_path_text = workshop_.path("outside").native();
    spec.machine.loaded = loaded_;
    spec.machine.cache = linker::LoaderCache();  // the machine that runs this test may have cuDNN
    return check(spec);
  }
  std::vector<linker::LoadedLibrary> loaded_;
  faults::Workshop workshop_;
};

TEST_F(MixedCudaSources, R16PartsOfCudnnFromTwoFoldersAreNamed) {
  const auto ours = part("build/lib/libcudnn.so.8");
  const auto theirs = part("outside/libcudnn_ops_infer.so.8");
  const Report report = judged(needs(ours) + needs(theirs));
  const Diagnosis* warning = find(report.warnings, "EH-R16");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::library), "libcudnn_ops_infer.so.8");
  EXPECT_EQ(warning->value(Key::path), theirs.native());
  EXPECT_EQ(warning->value(Key::others), ours.native());
  EXPECT_THAT(explain::describe(*warning), HasSubstr(theirs.native()));
  EXPECT_NE(report.verdict, Verdict::fails) << "only likely: the probe decides";
}

TEST_F(MixedCudaSources, G17LibrariesOfTwoCudaToolkitsAreNamed) {
  const auto ours = part("build/lib/libcudart.so.12");
  const auto theirs = part("outside/libcublas.so.12");
  const Report report = judged(needs(ours) + needs(theirs));
  const Diagnosis* warning = find(report.warnings, "EH-G17");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::library), "libcublas.so.12");
  EXPECT_THAT(explain::describe(*warning), HasSubstr(theirs.native()));
}

TEST_F(MixedCudaSources, G17FoldersOfOneBuildAreOnePlaceAndTheDriverIsNoPart) {
  const auto runtime = part("build/lib/libcudart.so.12");
  const auto blas = part("build/nvidia/cublas/lib/libcublas.so.12");
  const auto driver = part("outside/libcuda.so.1");
  const Report report =
      judged(needs(runtime) + needs(blas) + needs(driver) + "-Wl,-rpath,'$ORIGIN/nvidia/cublas/lib'");
  EXPECT_EQ(find(report.warnings, "EH-G17"), nullptr);
}

TEST_F(MixedCudaSources, L35TwoOpenMpRuntimesInOneClosureAreNamed) {
  const auto intel = part("build/lib/libiomp5.so");
  const auto wheel = part("build/lib/libgomp-a34b3233.so.1");
  const Report report = judged(needs(intel) + needs(wheel));
  const Diagnosis* warning = find(report.warnings, "EH-L35");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->values(Key::library),
              ::testing::UnorderedElementsAre("libiomp5.so", "libgomp-a34b3233.so.1"));
  EXPECT_EQ(report.verdict, Verdict::loads);
}

TEST_F(MixedCudaSources, L35ARuntimeThatTheHostLoadedCounts) {
  const auto ours = part("build/lib/libomp.so.5");
  loaded_ = {{"libgomp.so.1", part("outside/libgomp.so.1")}};
  const Report report = judged(needs(ours));
  const Diagnosis* warning = find(report.warnings, "EH-L35");
  ASSERT_NE(warning, nullptr);
  EXPECT_THAT(warning->values(Key::library), ElementsAre("libgomp.so.1", "libomp.so.5"));
}

TEST_F(MixedCudaSources, L35IsNotReportedForABuildWithoutOpenMp) {
  loaded_ = {{"libgomp.so.1", part("outside/libgomp.so.1")}, {"libomp.so.5", part("outside/libomp.so.5")}};
  EXPECT_EQ(find(judged("").warnings, "EH-L35"), nullptr);
}

TEST_F(MixedCudaSources, R15Case09MissingPartsOpenedByNameAreReportedBeforeUse) {
  const auto cudnn =
      workshop_.library("build/lib/libcudnn.so.9",
                        "const char* const parts[] = {\"libcudnn_ops.so\", \"libcudnn_graph.so\"};"
                        "const char* part(int i){return parts[i];}",
                        "-Wl,-soname,libcudnn.so.9");
  part("build/lib/libcudnn_graph.so.9");
  const Report report = judged(needs(cudnn));
  EXPECT_EQ(report.verdict, Verdict::unsure);
  ASSERT_EQ(first_code(report), "EH-R15");
  EXPECT_THAT(report.diagnoses.front().values(Key::library), ElementsAre("libcudnn_ops.so.9"));
  EXPECT_EQ(report.diagnoses.front().value(Key::needed_by), cudnn.native());
  part("build/lib/libcudnn_ops.so.9");
  EXPECT_EQ(judged(needs(cudnn)).verdict, Verdict::loads);
}

TEST_F(MixedCudaSources, R15Case08TheMissingPartsOfTheRunTimeCompilerAreNamed) {
  const auto compiler = workshop_.library("build/lib/libnvrtc.so.11.2",
                                          "const char* said(void){return \"nvrtc: error: failed to open "
                                          "libnvrtc-builtins.so.11.8.\\n  Make sure\";}",
                                          "-Wl,-soname,libnvrtc.so.11.2");
  part("build/lib/libnvrtc-builtins.so.11.3");
  const Report report = judged(needs(compiler));
  ASSERT_EQ(first_code(report), "EH-R15");
  EXPECT_THAT(report.diagnoses.front().values(Key::library), ElementsAre("libnvrtc-builtins.so.11.8"));
}

TEST_F(MixedCudaSources, R15OptionalNamesAreNotReportedAsMissing) {
  const auto runtime = workshop_.library("build/lib/libruntime.so",
                                         "const char* s(void){return \"libcudnn_ops.so.9\";}"
                                         "const char* t(void){return \"libibverbs.so.1\";}");
  EXPECT_EQ(judged(needs(runtime)).verdict, Verdict::loads);
}

TEST_F(MixedCudaSources, R15TheRealCudnnNamesItsMissingParts) {
  const std::filesystem::path real = "/usr/local/cuda/lib/libcudnn.so.9";
  const auto info = binary::read_binary(real);
  if (!info || info->machine != test::architecture)
    GTEST_SKIP() << "no cuDNN for this architecture here: " << real;
  std::filesystem::create_directories(workshop_.path("build/lib"));
  std::filesystem::copy_file(std::filesystem::canonical(real), workshop_.path("build/lib/libcudnn.so.9"));
  const auto plugin =
      workshop_.plugin("build/libengine_x.so", needs(workshop_.path("build/lib/libcudnn.so.9")));
  Spec spec = build(workshop_, plugin, {"build/lib"});
  spec.view = workshop_.path("build");
  spec.machine.library_path.clear();
  spec.machine.cache = linker::LoaderCache();
  const Report report = check(spec);
  const Diagnosis* doubt = find(report.diagnoses, "EH-R15");
  ASSERT_NE(doubt, nullptr);
  EXPECT_THAT(doubt->values(Key::library), ::testing::Contains("libcudnn_graph.so.9"));
}

class Devices : public MixedCudaSources {
 protected:
  static platform::Platform with_device(const std::string& capability) {
    platform::Platform platform;
    platform.cuda.driver = platform::Fact<std::string>::known("535.104.05", "/proc/driver/nvidia/version");
    platform::CudaDevice device;
    device.name = "a GPU";
    device.compute_capability = capability;
    platform.cuda.devices =
        platform::Fact<std::vector<platform::CudaDevice>>::known({device}, "cuDeviceGetAttribute");
    return platform;
  }
  // One block of .nv_fatbin with machine code for each of the architectures (tests/binary/gpu_code_test.cpp
  // has the layout).
  static std::string fat_binary(const std::vector<int>& architectures) {
    std::string entries;
    const auto put = [](std::string& to, auto value) {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      to.append(bytes, sizeof value);
    };
    for (const int architecture : architectures) {
      std::string entry;
      put(entry, std::uint16_t{2});
      put(entry, std::uint16_t{0x101});
      put(entry, std::uint32_t{64});
      put(entry, std::uint64_t{16});
      entry.resize(28);
      put(entry, static_cast<std::uint32_t>(architecture));
      entry.resize(64 + 16);
      entries += entry;
    }
    std::string block;
    put(block, std::uint32_t{0xba55ed50});
    put(block, std::uint16_t{1});
    put(block, std::uint16_t{16});
    put(block, static_cast<std::uint64_t>(entries.size()));
    return block + entries;
  }
  Report judged_with_code(const std::vector<int>& architectures, const platform::Platform& platform) {
    const auto code = workshop_.file("code.bin", fat_binary(architectures));
    workshop_.library(
        "build/lib/libkernels.so",
        "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n.incbin \\\"" + code.native() + "\\\"\\n\");",
        "-Wl,-soname,libkernels.so");
    const auto plugin = workshop_.plugin("build/libengine_x.so");
    Spec spec = build(workshop_, plugin, {"build/lib"});
    spec.view = workshop_.path("build");
    spec.platform = &platform;
    return check(spec);
  }
};

TEST_F(Devices, G05Case20FilesWithoutCodeForTheDeviceAreAWarning) {
  const Report report = judged_with_code({70, 80, 86}, with_device("12.0"));
  EXPECT_EQ(report.verdict, Verdict::loads) << "only likely: the probe decides";
  const Diagnosis* warning = find(report.warnings, "EH-G05");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::compute_capability), "12.0");
  EXPECT_EQ(warning->value(Key::sass), "7.0 8.0 8.6");
  EXPECT_THAT(explain::describe(*warning), HasSubstr("the build has code for 7.0 8.0 8.6"));
}

TEST_F(Devices, G05IsNotReportedWhereOneFileHasCodeOrNoDeviceIsKnown) {
  EXPECT_EQ(find(judged_with_code({70, 80, 86}, with_device("8.9")).warnings, "EH-G05"), nullptr);
  EXPECT_EQ(find(judged_with_code({70}, platform::Platform()).warnings, "EH-G05"), nullptr);
}

TEST_F(Devices, G08ADriverWhoseDeviceFileIsMissingIsAWarning) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has the device file";
  const auto driver = part("outside/libcuda.so.1");
  const auto plugin = workshop_.plugin("build/libengine_x.so", needs(driver));
  const platform::Platform platform = with_device("8.6");
  Spec spec = build(workshop_, plugin, {"build/lib"});
  spec.machine.library_path = {driver.parent_path().native()};
  spec.platform = &platform;
  const Report report = check(spec);
  const Diagnosis* warning = find(report.warnings, "EH-G08");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::path), "/dev/nvidiactl");
  EXPECT_EQ(warning->value(Key::errno_), "ENOENT");
}

TEST_F(Devices, G15TheDriverLibraryOfWslThatTheLoaderDoesNotFindIsNamed) {
  const auto driver = part("gone/libcuda.so.1");
  const auto plugin = workshop_.plugin("build/libengine_x.so", needs(driver));
  workshop_.remove(driver);
  platform::Platform platform;
  platform.wsl = platform::Fact<std::string>::known("2", "kernel release");
  platform.cuda.library = platform::Fact<platform::Installed>::known(
      {"", "/usr/lib/wsl/lib/libcuda.so.1", "the loader does not look there"}, "/usr/lib/wsl/lib/");
  Spec spec = build(workshop_, plugin, {"build/lib"});
  spec.platform = &platform;
  spec.machine.cache = linker::LoaderCache();
  spec.machine.default_directories = {std::string("/lib/") + test::multiarch};
  spec.machine.library_path.clear();
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-G15");
  EXPECT_EQ(report.diagnoses.front().value(Key::path), "/usr/lib/wsl/lib/libcuda.so.1");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("ldconfig"));
}

}  // namespace
}  // namespace enginehost::preflight
