// NVIDIA's devices and driver on Windows, read from the registry and files without a call into the driver.
#include "host/platform/parts.hpp"

#include <gmock/gmock.h>

#include "host/platform/detect.hpp"
#include "host/platform/windows/system.hpp"
#include "tests/platform/variable.hpp"
#include "tests/platform/windows/fake_windows.hpp"
#include "tests/platform/windows/own_registry.hpp"

namespace enginehost::platform {
namespace {

using ::testing::HasSubstr;

constexpr const char* display_class = "{4d36e968-e325-11ce-bfc1-08002be10318}";
const Fact<std::string> no_wsl = Fact<std::string>::absent("not Linux");

TEST(DriverVersion, IsTheLastFiveDigitsOfTheWindowsVersion) {
  EXPECT_EQ(nvidia_version("31.0.15.3623"), "536.23");
  EXPECT_EQ(nvidia_version("30.0.15.1179"), "511.79");
  EXPECT_EQ(nvidia_version("9.18.13.4788"), "347.88");
  EXPECT_EQ(nvidia_version("32.0.15.6603"), "566.03");
  EXPECT_EQ(nvidia_version("31.0.15.90"), "500.90");
  for (const char* none : {"", "536.23", "31.0.15", "31.0..3623", "31.0.15.36230", "a.b.c.d"})
    EXPECT_EQ(nvidia_version(none), "") << none;
}

// Two cards, one of them without a driver, and devices that must not be counted.
class Devices : public testing::Test {
 protected:
  OwnRegistry registry;
  void device(const std::string& id, const std::string& bus_class, const std::string& driver = {},
              const std::string& class_id = display_class) {
    const std::string key = "SYSTEM\\CurrentControlSet\\Enum\\PCI\\" + id + "&SUBSYS_00000000&REV_A1\\0";
    registry.texts(key, "HardwareID", "PCI\\" + id + "&SUBSYS_00000000&REV_A1|PCI\\" + id + "&" + bus_class);
    if (!class_id.empty()) registry.text(key, "ClassGUID", class_id);
    if (!driver.empty()) registry.text(key, "Driver", std::string(display_class) + "\\" + driver);
  }
  void driver(const std::string& number, const std::string& provider, const std::string& version) {
    const std::string key =
        "SYSTEM\\CurrentControlSet\\Control\\Class\\" + std::string(display_class) + "\\" + number;
    registry.text(key, "ProviderName", provider).text(key, "DriverVersion", version);
  }
};

TEST_F(Devices, OfNvidiaAreCountedWithAndWithoutADriver) {
  EXPECT_TRUE(nvidia_hardware(Root(), no_wsl).is_absent());
  device("VEN_10DE&DEV_2503", "CC_030000", "0000");
  device("VEN_10DE&DEV_20B2", "CC_030200", "", "{4d36e97e-e325-11ce-bfc1-08002be10318}");  // "other devices"
  device("VEN_10DE&DEV_228E", "CC_040300", "", "{4d36e96c-e325-11ce-bfc1-08002be10318}");  // its audio device
  device("VEN_8086&DEV_46D1", "CC_030000", "0001");
  driver("0000", "NVIDIA", "31.0.15.3623");
  const auto hardware = nvidia_hardware(Root(), no_wsl);
  EXPECT_EQ(hardware.value(), "10de:20b2, 10de:2503");
  EXPECT_EQ(hardware.source(), "SetupAPI");
  const auto version = kernel_driver(Root(), no_wsl);
  EXPECT_EQ(version.value(), "536.23");
  EXPECT_EQ(version.source(), "registry: DriverVersion 31.0.15.3623");
}

TEST_F(Devices, MicrosoftsBasicDriverIsNotNvidias) {
  device("VEN_10DE&DEV_2503", "CC_030000", "0000");
  driver("0000", "Microsoft", "10.0.22621.1");
  EXPECT_TRUE(kernel_driver(Root(), no_wsl).is_absent());
  EXPECT_EQ(nvidia_hardware(Root(), no_wsl).value(), "10de:2503");
}

TEST_F(Devices, AreSignsThatAppearAndGo) {
  const auto before = device_signs(Root());
  registry.text("SYSTEM\\CurrentControlSet\\Services\\nvlddmkm\\Enum", "0", "PCI\\VEN_10DE&DEV_2503\\0");
  driver("0000", "NVIDIA", "31.0.15.3623");
  const auto after = device_signs(Root());
  EXPECT_THAT(sign_changes(before, after),
              testing::ElementsAre("driver of display device 0000 is there now",
                                   "nvlddmkm: PCI\\VEN_10DE&DEV_2503\\0 is there now"));
  driver("0000", "NVIDIA", "31.0.15.4630");
  EXPECT_THAT(sign_changes(after, device_signs(Root())),
              testing::ElementsAre("driver of display device 0000 was 31.0.15.3623 and is 31.0.15.4630"));
}

class DriverLibrary : public testing::Test {
 protected:
  FakeWindows machine;
  Variable path{"PATH", nullptr}, programs{"ProgramW6432", "C:\\Program Files"};
};

TEST_F(DriverLibrary, HasTheDriversVersionInItsResources) {
  const std::string file = system_folder() + "\\nvcuda.dll";
  machine.dll(file, "driver");
  const LibrarySearch libraries(machine.root());
  const auto fact = driver_library(machine.root(), libraries, Fact<std::string>::known("536.23", "registry"));
  EXPECT_EQ(fact.value(), (Installed{"536.23", file, ""}));
  EXPECT_EQ(fact.source(), "System32");
  EXPECT_EQ(
      driver_library(machine.root(), libraries, Fact<std::string>::known("546.30", "registry")).value().note,
      "the registered driver is 546.30");
}

TEST_F(DriverLibrary, IfMissingNamesTheSearchedFolders) {
  const LibrarySearch libraries(machine.root());
  EXPECT_EQ(driver_library(machine.root(), libraries, Fact<std::string>::absent("registry")).source(),
            "not in the program's folder, System32, PATH");
  EXPECT_THAT(driver_library(machine.root(), libraries, Fact<std::string>::known("536.23", "")).source(),
              HasSubstr("a driver is registered, its library is missing"));
}

TEST_F(DriverLibrary, NvmlOfOldDriversLiesOutsideTheLoadersFolders) {
  const std::string old = "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\nvml.dll";
  EXPECT_FALSE(find_nvml(machine.root(), LibrarySearch(machine.root())));
  machine.dll(old, "driver");
  EXPECT_EQ(find_nvml(machine.root(), LibrarySearch(machine.root())), old);
  machine.dll(system_folder() + "\\nvml.dll", "driver");
  EXPECT_EQ(find_nvml(machine.root(), LibrarySearch(machine.root())), system_folder() + "\\nvml.dll");
}

TEST_F(DriverLibrary, IsNotCalledInThisProcess) {
  machine.dll(system_folder() + "\\nvcuda.dll", "driver");
  DetectRequest request;
  request.root = machine.path();
  const Cuda cuda = detect(request).cuda;
  EXPECT_EQ(cuda.library.value().version, "536.23");
  EXPECT_EQ(cuda.driver_cuda.why(), "there is no probe to query the driver");
  EXPECT_TRUE(cuda.devices.is_unknown()) << "never: no GPU";
  EXPECT_EQ(::GetModuleHandleW(L"nvcuda.dll"), nullptr);
}

TEST_F(DriverLibrary, AMissingQueryProgramIsNamed) {
  machine.dll(system_folder() + "\\nvcuda.dll", "driver");
  DetectRequest request;
  request.root = machine.path();
  request.helper = path_of("C:\\nowhere\\enginehost-probe.exe");
  EXPECT_THAT(detect(request).cuda.devices.why(), HasSubstr("C:\\nowhere\\enginehost-probe.exe"));
}

}  // namespace
}  // namespace enginehost::platform
