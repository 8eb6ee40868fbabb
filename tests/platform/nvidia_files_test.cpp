// Facts about NVIDIA's hardware and driver that are read from files.
#include "host/platform/parts.hpp"

#include <gmock/gmock.h>

#include "tests/platform/fixtures.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::platform {
namespace {

using ::testing::HasSubstr;

const Fact<std::string> no_wsl = Fact<std::string>::absent("kernel release");
const Fact<std::string> wsl_2 = Fact<std::string>::known("2", "kernel release");
using test::library_folder;

TEST(Hardware, GraphicsCardsOfNvidiaAreCountedByDevice) {
  FakeRoot machine;
  machine.pci("0000:01:00.0", "0x10de", "0x20b2", "0x030200")
      .pci("0000:02:00.0", "0x10de", "0x20b2", "0x030200");
  machine.pci("0000:03:00.0", "0x10de", "0x2684", "0x030000")
      .pci("0000:03:00.1", "0x10de", "0x22ba", "0x040300");
  machine.pci("0000:00:02.0", "0x8086", "0xa780", "0x030000")
      .pci("0000:04:00.0", "0x10de", "0x22a3", "0x068000");
  const auto fact = nvidia_hardware(machine.root(), no_wsl);
  EXPECT_EQ(fact.value(), "10de:20b2 x 2, 10de:2684");
  EXPECT_EQ(fact.source(), "/sys/bus/pci/devices");
}

TEST(Hardware, TheKernelsListOfDevicesGivesTheSameAnswer) {
  FakeRoot machine;
  machine.pci("0000:01:00.0", "0x10de", "0x2684", "0x030000")
      .pci("0000:01:00.1", "0x10de", "0x22ba", "0x040300");
  machine.pci("0000:65:1f.2", "0x10de", "0x2684", "0x030000");
  machine.file(
      "/proc/bus/pci/devices",
      "0010\t8086a780\t10\t0\n0100\t10de2684\t8c\t0\n0101\t10de22ba\t8c\t0\n65fa\t10de2684\t8c\t0\n");
  EXPECT_EQ(nvidia_hardware(machine.root(), no_wsl).value(), "10de:2684 x 2");
}

TEST(Hardware, ABusWithoutNvidiaIsAbsentAndNoBusIsUnknown) {
  FakeRoot other, bare;
  other.pci("0000:00:02.0", "0x8086", "0xa780", "0x030000");
  EXPECT_TRUE(nvidia_hardware(other.root(), no_wsl).is_absent());
  EXPECT_TRUE(nvidia_hardware(bare.root(), no_wsl).is_unknown());
}

TEST(Hardware, WslHidesTheBusSoItIsUnknown) {
  FakeRoot machine;
  machine.pci("1e5a:00:00.0", "0x1414", "0x008e", "0x030200").file("/dev/dxg", "");
  const auto fact = nvidia_hardware(machine.root(), wsl_2);
  EXPECT_TRUE(fact.is_unknown());
  EXPECT_THAT(fact.why(), HasSubstr("/dev/dxg"));
}

TEST(OtherGpus, CardsOfAmdAndIntelAreListedByMaker) {
  FakeRoot machine, bare;
  machine.pci("0000:03:00.0", "0x1002", "0x744c", "0x030000")
      .pci("0000:03:00.1", "0x1002", "0xab30", "0x040300");
  machine.pci("0000:00:02.0", "0x8086", "0x56a0", "0x030000")
      .pci("0000:00:1f.0", "0x8086", "0x7a04", "0x060100");
  machine.pci("0000:01:00.0", "0x10de", "0x2684", "0x030000")
      .pci("0000:02:00.0", "0x1a03", "0x2000", "0x030000");
  const auto fact = detect_other_gpus(machine.root(), no_wsl);
  EXPECT_EQ(fact.value(), "AMD 1002:744c, Intel 8086:56a0") << "a server's console chip computes nothing";
  EXPECT_EQ(fact.source(), "/sys/bus/pci/devices");
  EXPECT_TRUE(detect_other_gpus(bare.root(), no_wsl).is_unknown());
  bare.pci("0000:01:00.0", "0x10de", "0x2684", "0x030000");
  EXPECT_TRUE(detect_other_gpus(bare.root(), no_wsl).is_absent());
}

TEST(OtherGpus, WslHidesTheBusSoTheyAreUnknown) {
  FakeRoot machine;
  machine.pci("1e5a:00:00.0", "0x1414", "0x008e", "0x030200").file("/dev/dxg", "");
  EXPECT_TRUE(detect_other_gpus(machine.root(), wsl_2).is_unknown());
}

TEST(Hardware, TegraHasNoBusAndReportsChipAndRelease) {
  const std::string bus = "/sys/bus/pci/devices", release = "/etc/nv_tegra_release",
                    board = "/sys/firmware/devicetree/base/compatible";
  const std::string line =
      "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8 "
      "2025\n";
  const std::string orin("nvidia,p3737-0000+p3701-0000\0nvidia,p3701-0000\0nvidia,tegra234\0", 64);
  FakeRoot whole, container, early;
  whole.folder(bus).file(release, line).file(board, orin);
  EXPECT_EQ(nvidia_hardware(whole.root(), no_wsl).value(), "tegra234, L4T 36.4.3");
  EXPECT_EQ(nvidia_hardware(whole.root(), no_wsl).source(), release);
  container.folder(bus).file(board, orin);
  EXPECT_EQ(nvidia_hardware(container.root(), no_wsl).value(), "tegra234");
  EXPECT_EQ(nvidia_hardware(container.root(), no_wsl).source(), board);
  early.folder(bus).file(release, "# R36 (release)");
  EXPECT_EQ(nvidia_hardware(early.root(), no_wsl).value(), "tegra, L4T 36");
}

TEST(Hardware, AnotherBoardIsNoTegraAndACardBesideTegraIsNamed) {
  const std::string board = "/sys/firmware/devicetree/base/compatible";
  FakeRoot other, both;
  other.folder("/sys/bus/pci/devices").file(board, std::string("raspberrypi,5-model-b\0brcm,bcm2712\0", 35));
  EXPECT_TRUE(nvidia_hardware(other.root(), no_wsl).is_absent());
  both.pci("0005:01:00.0", "0x10de", "0x2684", "0x030000").file(board, std::string("nvidia,tegra234\0", 16));
  EXPECT_EQ(nvidia_hardware(both.root(), no_wsl).value(), "tegra234, 10de:2684");
}

TEST(KernelDriver, VersionIsReadFromBothKindsOfModule) {
  FakeRoot closed, open, only_sysfs, none;
  closed.file("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
              "GCC version:  gcc version 12.2.0\n");
  open.file(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)\n");
  only_sysfs.file("/sys/module/nvidia/version", "470.256.02\n");
  EXPECT_EQ(kernel_driver(closed.root(), no_wsl).value(), "535.104.05");
  EXPECT_EQ(kernel_driver(open.root(), no_wsl).value(), "580.65.06");
  EXPECT_EQ(kernel_driver(only_sysfs.root(), no_wsl).value(), "470.256.02");
  EXPECT_TRUE(kernel_driver(none.root(), no_wsl).is_absent());
}

TEST(DriverLibrary, IsFoundWithTheVersionOfItsFile) {
  FakeRoot machine;
  machine.copy(library_folder + "libcuda.so.535.104.05", FAKE_CUDA)
      .link(library_folder + "libcuda.so.1", "libcuda.so.535.104.05");
  const LibrarySearch libraries(machine.root());
  const auto fact =
      driver_library(machine.root(), libraries, Fact<std::string>::known("535.104.05", "/proc"));
  ASSERT_TRUE(fact.is_known());
  EXPECT_EQ(fact.value().version, "535.104.05");
  EXPECT_EQ(fact.value().note, "");
}

TEST(DriverLibrary, AnotherVersionThanTheKernelsIsNoted) {
  FakeRoot machine;
  machine.copy(library_folder + "libcuda.so.535.104.05", FAKE_CUDA)
      .link(library_folder + "libcuda.so.1", "libcuda.so.535.104.05");
  const LibrarySearch libraries(machine.root());
  const auto fact = driver_library(machine.root(), libraries, Fact<std::string>::known("535.54.03", "/proc"));
  EXPECT_EQ(fact.value().note, "the kernel driver is 535.54.03");
}

TEST(DriverLibrary, ALinkIntoAStubsFolderIsAStub) {
  FakeRoot machine;
  machine.copy("/usr/local/cuda/lib64/stubs/libcuda.so", FAKE_CUDA)
      .link(library_folder + "libcuda.so.1", "/usr/local/cuda/lib64/stubs/libcuda.so");
  const LibrarySearch libraries(machine.root());
  EXPECT_EQ(driver_library(machine.root(), libraries, Fact<std::string>::absent("/proc")).value().note,
            "stub");
}

TEST(DriverLibrary, AFileOfAnotherArchitectureIsSkipped) {
  FakeRoot machine;
  std::string foreign(64, '\0');
  foreign.replace(0, 6, "\177ELF\001\001");  // 32-bit
  machine.file(library_folder + "libcuda.so.1", foreign);
  const LibrarySearch libraries(machine.root());
  EXPECT_TRUE(driver_library(machine.root(), libraries, Fact<std::string>::absent("/proc")).is_absent());
}

TEST(DriverLibrary, TheLibraryOfWslIsNamedThoughTheLoaderDoesNotFindIt) {
  FakeRoot machine;
  machine.copy("/usr/lib/wsl/lib/libcuda.so.1.1", FAKE_CUDA)
      .link("/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so.1.1");
  const LibrarySearch libraries(machine.root());
  const auto fact = driver_library(machine.root(), libraries, Fact<std::string>::unknown("Windows"));
  ASSERT_TRUE(fact.is_known());
  EXPECT_EQ(fact.value(), (Installed{"", "/usr/lib/wsl/lib/libcuda.so.1", "the loader does not look there"}));
  EXPECT_EQ(fact.source(), "/usr/lib/wsl/lib");
}

TEST(DriverLibrary, AnAbsentOneMentionsALoadedKernelDriver) {
  FakeRoot machine;
  machine.file("/dev/nvidiactl", "");
  const LibrarySearch libraries(machine.root());
  const auto fact =
      driver_library(machine.root(), libraries, Fact<std::string>::known("535.104.05", "/proc"));
  EXPECT_TRUE(fact.is_absent());
  EXPECT_THAT(fact.source(), HasSubstr("its libraries are missing"));
}

// An NVIDIA card and the running kernel's list of modules.
void with_modules(FakeRoot& machine, const std::string& listed) {
  machine.pci("0000:01:00.0", "0x10de", "0x2684", "0x030000").file("/lib/modules/6.8.0/modules.dep", listed);
}

TEST(KernelModule, IsSearchedInTheListOfTheRunningKernel) {
  const auto kernel = Fact<std::string>::known("6.8.0", "uname");
  for (const auto& [listed, file] :
       {std::pair{"kernel/a.ko: b.ko", ""},
        {"kernel/nvidia-gpu.ko.zst:\nkernel/nvidiafb.ko.zst:", ""},
        {"x.ko:\nupdates/dkms/nvidia.ko.zst: y.ko", "updates/dkms/nvidia.ko.zst"},
        {"updates/dkms/nvidia-current.ko:", "updates/dkms/nvidia-current.ko"},
        {"extra/nvidia/nvidia.ko.xz:", "extra/nvidia/nvidia.ko.xz"}}) {
    FakeRoot machine;
    with_modules(machine, listed);
    const auto module = detect_nvidia_module(machine.root(), kernel);
    ASSERT_TRUE(module.is_known());
    EXPECT_EQ(module.value().file, *file == 0 ? "" : std::string("/lib/modules/6.8.0/") + file);
    EXPECT_EQ(module.value().gpu_is_of, "");
    EXPECT_FALSE(module.value().secure_boot);
    EXPECT_TRUE(detect_nvidia_module(machine.root(), Fact<std::string>::known("6.9.0", "uname")).is_unknown())
        << "a container has no modules of its host's kernel";
    machine.file("/sys/module/nvidia/version", "580.65.06");
    EXPECT_TRUE(detect_nvidia_module(machine.root(), kernel).is_absent());
  }
  FakeRoot without_card;
  without_card.pci("0000:00:02.0", "0x8086", "0xa780", "0x030000");
  EXPECT_TRUE(detect_nvidia_module(without_card.root(), kernel).is_absent());
}

TEST(KernelModule, TheDriverThatHasTheGpuAndSecureBootAreRead) {
  const auto kernel = Fact<std::string>::known("6.8.0", "uname");
  const std::string variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  for (const char* driver : {"nouveau", "vfio-pci"})
    for (const char state : {'\0', '\1'}) {
      FakeRoot machine;
      with_modules(machine, "updates/dkms/nvidia.ko:");
      machine.folder(std::string("/sys/bus/pci/drivers/") + driver)
          .link("/sys/bus/pci/devices/0000:01:00.0/driver", std::string("/sys/bus/pci/drivers/") + driver)
          .file(variable, std::string("\6\0\0\0", 4) + state);
      const KernelModule module = detect_nvidia_module(machine.root(), kernel).value();
      EXPECT_EQ(module.gpu_is_of, driver);
      EXPECT_EQ(module.secure_boot, state == '\1');
    }
}

}  // namespace
}  // namespace enginehost::platform
