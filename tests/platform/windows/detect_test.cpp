// Detection of a Windows machine. Under Wine it is Wine's, with Wine's registry and kernel.
#include "host/platform/detect.hpp"

#include <gmock/gmock.h>

#include "base/environment.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/windows/system.hpp"
#include "tests/platform/variable.hpp"
#include "tests/platform/windows/fake_windows.hpp"
#include "tests/platform/windows/own_registry.hpp"

namespace enginehost::platform {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DetectWindows, ThisMachineIsDetectedAndRoundTrips) {
  DetectRequest request;
  request.cache_folder = std::filesystem::temp_directory_path();
  const Platform platform = detect(request);
  EXPECT_EQ(platform.os.value(), "windows");
  EXPECT_EQ(platform.arch.value(), "x86_64");
  EXPECT_EQ(platform.arch.source(), "this program");
  EXPECT_TRUE(platform.libc.is_absent());
  EXPECT_TRUE(platform.libstdcxx.is_absent());
  EXPECT_TRUE(platform.metal.is_absent());
  EXPECT_TRUE(platform.wsl.is_absent());
  EXPECT_GT(platform.memory.value().total, platform.memory.value().available);
  EXPECT_GT(platform.memory.value().available, 0u);
  EXPECT_EQ(platform.disk.value().folder, path_text(request.cache_folder));
  EXPECT_GT(platform.disk.value().free, 0u);
  EXPECT_GT(platform.cpu.value().cores, 0);
  EXPECT_THAT(platform.cpu.value().level, testing::StartsWith("x86-64-v"));
  EXPECT_THAT(platform.cpu.value().features, Contains("sse2"));
  for (const auto* fact : {&platform.cuda.driver, &platform.cuda.hardware}) EXPECT_FALSE(fact->is_unknown());
  const auto back = platform_from_json(*parse_json(to_json(platform).dump(), "this machine"), "this machine");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, platform);
  EXPECT_FALSE(describe(platform).empty());
}

TEST(DetectWindows, TheVersionIsTheKernelsWithItsBuildNumber) {
  const Fact<std::string> kernel = detect_kernel(Root());
  EXPECT_EQ(kernel.source(), "RtlGetVersion");
  const std::string key = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
  EXPECT_EQ("10.0." + registry::text(key, "CurrentBuildNumber").value_or(""), kernel.value());
  const Fact<Distribution> distribution = detect_distribution(Root());
  EXPECT_EQ(distribution.value().id, "windows");
  EXPECT_THAT(distribution.value().version, testing::AnyOf("10", "11"));
}

TEST(DetectWindows, ElevenIsRecognizedByItsBuildNumberOnly) {
  const auto called = [](std::uint32_t build, const char* product, const char* release, bool server = false) {
    const WindowsName name = name_of({10, 0, build, server}, product, release);
    return name.name + " / " + name.version;
  };
  EXPECT_EQ(called(19045, "Windows 10 Pro", "22H2"), "Windows 10 Pro 22H2 / 10");
  EXPECT_EQ(called(22631, "Windows 10 Pro", "23H2"), "Windows 11 Pro 23H2 / 11");
  EXPECT_EQ(called(22000, "Windows 10 Home", ""), "Windows 11 Home / 11");
  EXPECT_EQ(called(20348, "Windows Server 2022 Datacenter", "21H2", true),
            "Windows Server 2022 Datacenter 21H2 / 2022");
  EXPECT_EQ(called(26100, "", ""), "Windows 11 / 11");
  EXPECT_EQ(called(17763, "", "", true), "Windows Server / 10.0");
  EXPECT_EQ(name_of({6, 1, 7601, false}, "Windows 7 Professional", "").version, "6.1");
}

TEST(DetectWindows, AnAnonymousReportHoldsNoPersonalData) {
  DetectRequest request;
  request.cache_folder =
      path_of(environment_variable("USERPROFILE").value_or("C:\\users\\nobody") + "\\cache");
  const std::string text = to_json(detect(request), true).dump();
  EXPECT_THAT(text, HasSubstr("~"));
  EXPECT_THAT(to_lower(text), Not(HasSubstr("\\\\users\\\\" + to_lower(effective_user()) + "\\\\")));
}

TEST(DetectWindows, VariablesOfLoadersAndRuntimesAreListedInUpperCase) {
  const Variable path("Cuda_Path", "C:\\CUDA"), other("EngineHost_Other", "1");
  const auto fact = detect_loader_environment();
  EXPECT_THAT(fact.value(), Contains(std::pair<std::string, std::string>("CUDA_PATH", "C:\\CUDA")));
  for (const auto& [name, value] : fact.value()) EXPECT_NE(name, "ENGINEHOST_OTHER");
}

TEST(DetectWindows, ACondaEnvironmentIsReportedInUtf8) {
  const Variable prefix("CONDA_PREFIX", "C:\\Users\\Zoë\\miniconda3"), name("CONDA_DEFAULT_ENV", "größe");
  EXPECT_EQ(detect_conda().value(), (Conda{"C:\\Users\\Zoë\\miniconda3", "größe"}));
}

TEST(DetectWindows, AContainerIsRecognizedByTheRegistry) {
  OwnRegistry registry;
  EXPECT_TRUE(detect_container(Root()).is_absent());
  registry.number("SYSTEM\\CurrentControlSet\\Control", "ContainerType", 2);
  EXPECT_EQ(detect_container(Root()).value(), "windows container");
}

TEST(DetectWindows, TheHipSdkIsWhereItsVariableSays) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "ROCm/6.2");
  const Variable path("HIP_PATH", path_text(folder / "ROCm\\6.2\\").c_str());
  EXPECT_EQ(detect_rocm(Root()).value().version, "6.2");
  const Variable none("HIP_PATH", nullptr);
  EXPECT_TRUE(detect_rocm(Root()).is_absent());
}

class Runtime : public testing::Test {
 protected:
  FakeWindows machine;
  Variable path{"PATH", nullptr};
  void put(const std::string& name, const std::string& which) {
    machine.dll(system_folder() + "\\" + name, which);
  }
};

TEST_F(Runtime, OfVisualCIsRecognizedByItsFiles) {
  put("vcruntime140.dll", "runtime_2022");
  put("msvcp140.dll", "runtime_2022");
  const auto fact = detect_vcruntime(machine.root());
  EXPECT_EQ(fact.value(), "14.40.33810");
  EXPECT_EQ(fact.source(), system_folder() + "\\vcruntime140.dll 14.40.33810, " + system_folder() +
                               "\\msvcp140.dll 14.40.33810");
}

TEST_F(Runtime, IsAsOldAsTheOldestOfItsFiles) {
  put("vcruntime140.dll", "runtime_2022");
  put("msvcp140.dll", "runtime_2019");
  EXPECT_EQ(detect_vcruntime(machine.root()).value(), "14.29.30139");
}

TEST_F(Runtime, WithoutOneOfItsFilesIsAbsentAndNamesIt) {
  EXPECT_THAT(detect_vcruntime(machine.root()).source(), HasSubstr("vcruntime140.dll, msvcp140.dll: not in"));
  put("vcruntime140.dll", "runtime_2022");
  const auto fact = detect_vcruntime(machine.root());
  EXPECT_TRUE(fact.is_absent());
  EXPECT_THAT(fact.source(),
              testing::StartsWith("msvcp140.dll: not in the program's folder, System32, PATH"));
}

TEST_F(Runtime, AFileForAnotherProcessorIsSkipped) {
  machine.file(system_folder() + "\\vcruntime140.dll", "MZ, but nothing more");
  EXPECT_TRUE(detect_vcruntime(machine.root()).is_absent());
}

TEST(DetectWindows, ARootOfAnotherMachineIsReadBelowItsDrives) {
  FakeWindows machine;
  machine.file("C:\\Program Files\\tool\\version.txt", "1.0\r\n");
  EXPECT_EQ(machine.root().read("C:\\Program Files\\tool\\version.txt"), "1.0");
  EXPECT_EQ(machine.root().list("C:\\Program Files"), std::vector<std::string>{"tool"});
  EXPECT_EQ(machine.root().resolve("c:\\program files\\TOOL").value_or(""), "C:\\Program Files\\tool");
  EXPECT_FALSE(machine.root().exists("D:\\"));
  EXPECT_FALSE(machine.root().resolve("C:\\nowhere"));
}

}  // namespace
}  // namespace enginehost::platform
