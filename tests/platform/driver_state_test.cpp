// The obstacles between a process and a driver, and the facts that decide the remedy.
#include "host/platform/driver_state.hpp"

#include <gmock/gmock.h>

#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

using Text = Fact<std::string>;

Platform with_library(const std::string& version, const std::string& path, const std::string& note) {
  Platform machine;
  machine.os = Text::known("linux", "this program");
  machine.cuda.library = Fact<Installed>::known({version, path, note}, "LD_LIBRARY_PATH");
  return machine;
}

TEST(DriverState, FollowsTheNoteOfTheLibrary) {
  struct Case {
    const char *version, *path, *note;
    DriverLibrary state;
    const char* code;
  };
  const Case cases[] = {
      {"580.65.06", "/lib/libcuda.so.1", "", DriverLibrary::found, "EH-G01"},
      {"", "/lib/libcuda.so.1", "stub; the kernel driver is 580", DriverLibrary::stub, "EH-G02"},
      {"", "/zero/libcuda.so.1", "empty (0 bytes)", DriverLibrary::empty, "EH-G19"},
      {"580.65.06", "/run/opengl-driver/lib/libcuda.so.1", "the loader does not look there",
       DriverLibrary::not_searched, "EH-G15"},
      {"570.00.01", "/run/opengl-driver/lib/libcuda.so.1",
       "the loader does not look there; the kernel driver is 580.65.06", DriverLibrary::other_version,
       "EH-G09"},
      {"570.00.01", "/lib/libcuda.so.1", "the kernel driver is 580.65.06", DriverLibrary::found, "EH-G01"},
  };
  for (const Case& one : cases) {
    Platform machine = with_library(one.version, one.path, one.note);
    machine.cuda.driver = Text::known("580.65.06", "/proc/driver/nvidia/version");
    EXPECT_EQ(driver_library_state(machine), one.state) << one.note;
    EXPECT_EQ(why_no_driver(machine).code, one.code) << one.note;
    EXPECT_EQ(obstacle_text(machine).empty(), one.state == DriverLibrary::found) << one.note;
  }
  EXPECT_EQ(driver_library_state(Platform()), DriverLibrary::not_found);
  EXPECT_EQ(why_no_driver(Platform()).code, "EH-G01");
}

TEST(DriverState, ALinuxDriverInWslIsKnownByItsVersion) {
  const char* const path = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
  const auto state = [](Platform machine, bool wsl) {
    if (wsl) machine.wsl = Text::known("2", "kernel release");
    return driver_library_state(machine);
  };
  EXPECT_EQ(state(with_library("535.183.01", path, ""), true), DriverLibrary::linux_in_wsl);
  EXPECT_EQ(state(with_library("535.183.01", path, ""), false), DriverLibrary::found);
  EXPECT_EQ(state(with_library("", path, ""), true), DriverLibrary::found) << "a link to Windows's library";
  EXPECT_EQ(state(with_library("", "/usr/lib/wsl/lib/libcuda.so.1", ""), true), DriverLibrary::found);
  EXPECT_EQ(state(with_library("575.57.08", "/usr/local/cuda/compat/libcuda.so.1", ""), true),
            DriverLibrary::found);
  Platform works = with_library("535.183.01", path, "");
  works.cuda.devices =
      Fact<std::vector<CudaDevice>>::known({{0, "RTX 4070", "8.9", "", 0, true}}, "cuDeviceGet");
  EXPECT_EQ(state(works, true), DriverLibrary::found);
  Platform hides = with_library("535.183.01", path, "");
  hides.wsl = Text::known("2", "kernel release");
  EXPECT_EQ(why_no_driver(hides).code, "EH-G20");
  EXPECT_EQ(why_no_driver(hides).value(Key::path), path);
}

TEST(DriverState, WithoutModuleOrAfterAnErrorItIsNotFound) {
  struct Case {
    const char *kernel, *init;
    DriverLibrary state;
    const char* code;
  };
  for (const Case& one : {Case{"580.65.06", "0", DriverLibrary::found, ""},
                          {"580.65.06", "100", DriverLibrary::found, ""},
                          {"580.65.06", "802", DriverLibrary::found, "EH-G11"},
                          {"580.65.06", "46", DriverLibrary::found, "EH-G12"},
                          {"580.65.06", "3", DriverLibrary::refused, "EH-G13"},
                          {"580.65.06", "804", DriverLibrary::refused, "EH-G10"},
                          {"570.00.01", "804", DriverLibrary::refused, "EH-G09"},
                          {"570.00.01", "803", DriverLibrary::refused, "EH-G09"},
                          {nullptr, "0", DriverLibrary::found, ""},
                          {nullptr, "803", DriverLibrary::refused, "EH-G09"},
                          {nullptr, "100", DriverLibrary::no_module, ""},
                          {nullptr, "999", DriverLibrary::no_module, "EH-G13"}}) {
    Platform machine = with_library("580.65.06", "/lib/libcuda.so.1", "");
    machine.cuda.driver = one.kernel != nullptr ? Text::known(one.kernel, "/proc/driver/nvidia/version")
                                                : Text::absent("/proc/driver/nvidia/version");
    machine.cuda.init = Text::known(one.init, "cuInit");
    machine.cuda.hardware = Text::known("10de:2684", "/sys/bus/pci/devices");
    machine.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("cuInit said something");
    EXPECT_EQ(driver_library_state(machine), one.state) << one.init;
    EXPECT_EQ(class_of_init(machine), one.code) << one.init;
    EXPECT_EQ(obstacle_text(machine).empty(), one.state == DriverLibrary::found) << one.init;
  }
}

TEST(DriverState, G22ADriverThatHangsStaysPossible) {
  Platform machine = with_library("580.65.06", "/lib/libcuda.so.1", "");
  machine.cuda.driver = Text::known("580.65.06", "/proc/driver/nvidia/version");
  for (const auto& [why, code] :
       {std::pair{"the driver did not answer in 15 s", "EH-G22"},
        {"the driver did not answer in 500 ms and its process cannot be ended", "EH-G22"},
        {"the driver's library crashed the probe (SIGSEGV)", ""},
        {"not asked", ""}}) {
    machine.cuda.init = Text::unknown(why);
    EXPECT_EQ(class_of_init(machine), code) << why;
    EXPECT_EQ(driver_library_state(machine), DriverLibrary::found) << why;
  }
}

TEST(DriverState, AMissingModuleNeedsASignBesideMissingFiles) {
  Platform machine = with_library("580.65.06", "/lib/libcuda.so.1", "");
  machine.cuda.driver = Text::absent("/proc/driver/nvidia/version");
  machine.cuda.hardware = Text::known("10de:2684", "/sys/bus/pci/devices");
  EXPECT_EQ(driver_library_state(machine), DriverLibrary::found) << "files may be hidden";
  machine.cuda.init = Text::known("100", "cuInit");
  machine.cuda.visible_devices = Text::known("", "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(driver_library_state(machine), DriverLibrary::found) << "the variable may be the reason";
  machine.cuda.visible_devices = Text::absent("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(driver_library_state(machine), DriverLibrary::no_module);
  machine.cuda.init = Text::unknown("not asked");
  machine.nvidia_module = Fact<KernelModule>::known({"", "nouveau", false}, "modules.dep");
  EXPECT_EQ(driver_library_state(machine), DriverLibrary::no_module);
  EXPECT_EQ(why_no_driver(machine).code, "EH-G21");
  machine.cuda.hardware = Text::absent("/sys/bus/pci/devices");
  EXPECT_EQ(driver_library_state(machine), DriverLibrary::found) << "nothing that the module is for";
  machine.cuda.hardware = Text::known("tegra234, L4T 35.4.1", "/etc/nv_tegra_release");
  EXPECT_EQ(driver_library_state(machine), DriverLibrary::found) << "its driver shows no version";
}

TEST(DriverState, ThePathToSetKeepsWhatIsSet) {
  Platform machine = with_library("", "/usr/lib64-nvidia/libcuda.so.1", "the loader does not look there");
  EXPECT_EQ(why_no_driver(machine).value(Key::library_path), "/usr/lib64-nvidia");
  EXPECT_EQ(why_no_driver(machine).value(Key::ldconfig), "/usr/lib64-nvidia");
  machine.loader_environment = Fact<Variables>::known({{"LD_LIBRARY_PATH", "/opt/lib"}}, "environment");
  EXPECT_EQ(why_no_driver(machine).value(Key::library_path), "/usr/lib64-nvidia:$LD_LIBRARY_PATH");
  machine.container = Text::known("flatpak", "/.flatpak-info");
  EXPECT_EQ(why_no_driver(machine).value(Key::ldconfig), "");
}

TEST(DriverFacts, ASandboxIsNoContainerAndNamesTheExtension) {
  for (const char* name : {"docker", "podman", "kubernetes", "apptainer", "flatpak", "snap"}) {
    Platform machine;
    machine.container = Text::known(name, "mark");
    machine.cuda.driver = Text::known("580.65.06", "/proc/driver/nvidia/version");
    Diagnosis diagnosis;
    add_driver_facts(machine, diagnosis);
    const bool sandbox = std::string_view(name) == "flatpak" || std::string_view(name) == "snap";
    EXPECT_EQ(diagnosis.value(Key::container), sandbox ? "" : name);
    EXPECT_EQ(diagnosis.value(Key::sandbox), sandbox ? name : "");
    EXPECT_EQ(diagnosis.value(Key::gl_extension),
              std::string_view(name) == "flatpak" ? "org.freedesktop.Platform.GL.nvidia-580-65-06" : "");
  }
}

TEST(DriverFacts, NvidiaVisibleDevicesCountsOnlyIfItKeepsTheDriverOut) {
  const auto reported = [](const char* value, bool container) {
    Platform machine;
    if (container) machine.container = Text::known("docker", "/.dockerenv");
    machine.loader_environment = Fact<Variables>::known({{"NVIDIA_VISIBLE_DEVICES", value}}, "environment");
    Diagnosis diagnosis;
    add_driver_facts(machine, diagnosis);
    return std::string(diagnosis.value(Key::nvidia_visible_devices));
  };
  EXPECT_EQ(reported("void", true), "void");
  EXPECT_EQ(reported("none", true), "none");
  EXPECT_EQ(reported("", true), "\"\"");
  for (const char* list : {"all", "0", "0,1", "GPU-fef8089b"}) EXPECT_EQ(reported(list, true), "") << list;
  EXPECT_EQ(reported("void", false), "") << "only a container's runtime reads it";
}

}  // namespace
}  // namespace enginehost::platform
