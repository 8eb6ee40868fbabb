// Variables, named devices and drivers out of reach: each decides between builds, and a refusal names it.
#include <gmock/gmock.h>

#include "host/explain/explain.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/passed_over.hpp"
#include "tests/resolve/machines.hpp"
#include "tests/resolve/toy.hpp"

namespace enginehost::resolve {
namespace {

using platform::Installed;
using platform::Variables;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Platform amd_machine(std::vector<std::string> gfx, Variables variables, std::vector<int> nodes = {}) {
  Platform machine = ubuntu22;
  machine.rocm = Fact<platform::Rocm>::known({"6.2.0", std::move(gfx), std::move(nodes)}, "/sys/class/kfd");
  machine.loader_environment = variables.empty()
                                   ? Fact<Variables>::absent("environment")
                                   : Fact<Variables>::known(std::move(variables), "environment");
  return machine;
}

TEST(RocmOverride, MakesADeviceCountAsAnother) {
  const Plan plan =
      toy_plan(amd_machine({"gfx1031"}, {{"HSA_OVERRIDE_GFX_VERSION", "10.3.0"}}), toy_cpu + "," + toy_rocm);
  EXPECT_EQ(chosen(plan), "1.0-rocm62");
  const Checks& checks = toy_candidate(plan, "rocm62").checks;
  const auto check = std::ranges::find(checks, "HSA_OVERRIDE_GFX_VERSION=10.3.0", &Check::source);
  ASSERT_NE(check, checks.end());
  EXPECT_EQ(check->observed, "gfx1031 as gfx1030");
  const Variables of_node = {{"HSA_OVERRIDE_GFX_VERSION_2", "11.0.0"}};
  EXPECT_EQ(chosen(toy_plan(amd_machine({"gfx906", "gfx1101"}, of_node, {1, 2}), toy_cpu + "," + toy_rocm)),
            "1.0-rocm62");
  EXPECT_EQ(chosen(toy_plan(amd_machine({"gfx906", "gfx1101"}, of_node, {1, 3}), toy_cpu + "," + toy_rocm)),
            "1.0-cpu");
}

TEST(RocmOverride, ARefusalNamesTheVariableOrHintsAtIt) {
  struct Case {
    const char* gfx;
    Variables variables;
    std::vector<std::string> said;
  };
  const Case cases[] = {
      {"gfx1031", {}, {"HSA_OVERRIDE_GFX_VERSION is not set", "set HSA_OVERRIDE_GFX_VERSION=10.3.0"}},
      {"gfx1103", {}, {"set HSA_OVERRIDE_GFX_VERSION=11.0.0"}},
      {"gfx1031",
       {{"HSA_OVERRIDE_GFX_VERSION", "11.0.1"}},
       {"HSA_OVERRIDE_GFX_VERSION=11.0.1", "gfx1101", "unset HSA_OVERRIDE_GFX_VERSION"}},
      {"gfx1030",
       {{"HSA_OVERRIDE_GFX_VERSION", "9.0.0"}},
       {"HSA_OVERRIDE_GFX_VERSION=9.0.0 makes gfx1030 count as gfx900"}},
      {"gfx1030", {{"HSA_OVERRIDE_GFX_VERSION", "10.3"}}, {"HSA_OVERRIDE_GFX_VERSION=10.3 is no version"}},
      {"gfx1030", {{"ROCR_VISIBLE_DEVICES", ""}}, {"ROCR_VISIBLE_DEVICES=\"\" hides every AMD GPU"}},
      {"gfx1030", {{"HIP_VISIBLE_DEVICES", "-1"}}, {"HIP_VISIBLE_DEVICES=-1", "unset HIP_VISIBLE_DEVICES"}},
      {"gfx1030", {{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, {"CUDA_VISIBLE_DEVICES=NoDevFiles"}},
  };
  for (const Case& one : cases) {
    const Plan plan = toy_plan(amd_machine({one.gfx}, one.variables), toy_cpu + "," + toy_rocm);
    EXPECT_EQ(chosen(plan), "1.0-cpu");
    const auto refused =
        std::ranges::find(toy_candidate(plan, "rocm62").checks, Code::rocm_does_not_fit, &Check::code);
    ASSERT_NE(refused, toy_candidate(plan, "rocm62").checks.end());
    for (const std::string& part : one.said)
      EXPECT_THAT(toy_text(plan, "rocm62") + refused->observed, HasSubstr(part));
  }
}

TEST(RocmOverride, NoHintForADeviceOfAnotherGeneration) {
  EXPECT_THAT(toy_text(toy_plan(amd_machine({"gfx906"}, {}), toy_rocm), "rocm62"),
              Not(HasSubstr("HSA_OVERRIDE")));
}

TEST(RocmOverride, AUuidMakesABuildUncertainAndNamesTheVariable) {
  const Plan plan =
      toy_plan(amd_machine({"gfx1030"}, {{"ROCR_VISIBLE_DEVICES", "GPU-4b2c1a9f8d3e6f7a"}}), toy_rocm);
  EXPECT_TRUE(toy_candidate(plan, "rocm62").uncertain);
  EXPECT_THAT(why_passed_over(toy_candidate(plan, "rocm62")).reason, HasSubstr("ROCR_VISIBLE_DEVICES"));
}

const Platform mixed_pair =
    with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 5090", "12.0"}, {"GTX 1080 Ti", "6.1"}});

TEST(NamedDevices, TheFirstNeedsCodeAndTheOthersAreReported) {
  const std::string both = toy_cpu + "," + toy_cu130 + "," + toy_cu126;
  for (const char* device : {"cuda:1", "cuda:0,cuda:1", "cuda:1,cuda:0", "cuda:1,cpu"})
    EXPECT_EQ(chosen(toy_plan(mixed_pair, both, device)), "1.0-cu126") << device;
  EXPECT_EQ(chosen(toy_plan(mixed_pair, both, "cuda:0")), "1.0-cu130");
  const std::string without = toy_cpu + "," + toy_cu130;
  EXPECT_EQ(chosen(toy_plan(mixed_pair, without, "cuda:1")), "");
  EXPECT_EQ(chosen(toy_plan(mixed_pair, without, "cuda:1,cuda:0")), "");
  EXPECT_EQ(chosen(toy_plan(mixed_pair, without, "cuda:1,cpu")), "1.0-cpu");
  EXPECT_THAT(toy_text(toy_plan(mixed_pair, without, "cuda:1"), "cu130"),
              HasSubstr("GTX 1080 Ti has compute capability 6.1; the build has code for"));
  const Plan one = toy_plan(mixed_pair, without, "cuda:0,cuda:1");
  EXPECT_EQ(chosen(one), "1.0-cu130");
  const auto warning = idle_accelerator(one, mixed_pair, *toy_candidate(one, "cu130").build);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->code, "EH-S27");
  EXPECT_THAT(explain::describe(*warning), HasSubstr("no code for cuda:1 (GTX 1080 Ti, 6.1)"));
}

TEST(NamedDevices, WithoutANameAnyVisibleGpuWillDo) {
  const Plan plan = toy_plan(mixed_pair, toy_cpu + "," + toy_cu130);
  EXPECT_EQ(chosen(plan), "1.0-cu130");
  EXPECT_EQ(idle_accelerator(plan, mixed_pair, *toy_candidate(plan, "cu130").build), std::nullopt);
  const Checks& checks = toy_candidate(plan, "cu130").checks;
  const auto code = std::ranges::find_if(
      checks, [](const Check& check) { return check.requirement.starts_with("code for a visible GPU"); });
  ASSERT_NE(code, checks.end());
  EXPECT_THAT(code->observed, HasSubstr("GTX 1080 Ti 6.1: no code"));
}

TEST(NamedDevices, ANumberThatTheVariableHidesIsRefusedWithItsName) {
  const Plan plan = toy_plan(with_visible(mixed_pair, "0"), toy_cu130, "cuda:1");
  EXPECT_THAT(toy_text(plan, "cu130"), HasSubstr("there is 1 visible device (CUDA_VISIBLE_DEVICES=\"0\")"));
}

TEST(VisibleDevices, EachFormOfCudasVariable) {
  struct Case {
    const char* value;
    std::vector<std::string> names;
    bool certain = true;
  };
  const Case cases[] = {{"0", {"RTX 5090"}},
                        {"1,0", {"GTX 1080 Ti", "RTX 5090"}},
                        {"", {}},
                        {"-1", {}},
                        {"NoDevFiles", {}},
                        {"none", {}},
                        {"0,-1,1", {"RTX 5090"}},
                        {"0,7", {"RTX 5090"}},
                        {"0,0", {}},
                        {" 1 ", {"GTX 1080 Ti"}},
                        {"GPU-1", {"GTX 1080 Ti"}},
                        {"GPU-0abc", {"RTX 5090"}},
                        {"GPU-", {}},
                        {"GPU-f", {}},
                        {"MIG-41b3359c-e721", {"RTX 5090", "GTX 1080 Ti"}, false}};
  for (const Case& one : cases) {
    const Platform machine = with_visible(mixed_pair, one.value);
    const VisibleDevices visible = visible_devices(machine.cuda);
    std::vector<std::string> names;
    for (const CudaDevice* device : visible.devices) names.push_back(device->name);
    EXPECT_EQ(names, one.names) << one.value;
    EXPECT_EQ(visible.certain, one.certain) << one.value;
    if (one.names.empty()) {
      EXPECT_THAT(toy_text(toy_plan(machine, toy_cu130), "cu130"), HasSubstr("CUDA_VISIBLE_DEVICES="))
          << one.value;
    }
  }
}

struct Obstacle {
  Installed library;
  const char *wsl, *container, *code;
  std::vector<std::string> remedies;
};

TEST(DriverOutOfReach, IsRefusedWithARemedyThatHelpsThere) {
  const Obstacle cases[] = {
      {{"580.65.06", "/run/opengl-driver/lib/libcuda.so.1", "the loader does not look there"},
       nullptr,
       nullptr,
       "EH-G15",
       {"LD_LIBRARY_PATH=/run/opengl-driver/lib"}},
      {{"580.65.06", "/usr/local/nvidia/lib64/libcuda.so.1", "the loader does not look there"},
       nullptr,
       "kubernetes",
       "EH-G15",
       {"LD_LIBRARY_PATH=/usr/local/nvidia/lib64", "ldconfig"}},
      {{"", "/usr/lib/wsl/lib/libcuda.so.1", "the loader does not look there"},
       "2",
       nullptr,
       "EH-G15",
       {"LD_LIBRARY_PATH=/usr/lib/wsl/lib", "ldconfig"}},
      {{"", "/zero/libcuda.so.1", "empty (0 bytes)"}, nullptr, "docker", "EH-G19", {"--gpus all"}},
      {{"", "/zero/libcuda.so.1", "empty (0 bytes)"}, nullptr, "podman", "EH-G19", {"nvidia.com/gpu=all"}},
      {{"", "/zero/libcuda.so.1", "empty (0 bytes)"}, nullptr, "apptainer", "EH-G19", {"--nv"}},
      {{"", "/zero/libcuda.so.1", "empty (0 bytes)"}, nullptr, "snap", "EH-G19", {"snap connect"}},
      {{"535.183.01", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", ""},
       "2",
       nullptr,
       "EH-G20",
       {"remove the Linux package", "update the driver in Windows only"}},
      {{"570.124.06", "/usr/lib/x86_64-linux-gnu/GL/nvidia-570-124-06/lib/libcuda.so.1",
        "the loader does not look there; the kernel driver is 580.65.06"},
       nullptr,
       "flatpak",
       "EH-G09",
       {"flatpak install org.freedesktop.Platform.GL.nvidia-580-65-06"}},
  };
  for (const Obstacle& one : cases) {
    Platform machine = ubuntu22;
    machine.cuda.library = Fact<Installed>::known(one.library, "the loader's order");
    machine.cuda.driver_cuda = Fact<std::string>::known("13.0", "cuDriverGetVersion");
    machine.cuda.hardware = Fact<std::string>::unknown("not asked");
    if (one.wsl == nullptr) machine.cuda.driver = Fact<std::string>::known("580.65.06", "/proc");
    if (one.wsl != nullptr) machine.wsl = Fact<std::string>::known(one.wsl, "kernel release");
    if (one.container != nullptr) machine.container = Fact<std::string>::known(one.container, "mark");
    const Plan plan = toy_plan(machine, toy_cu130);
    EXPECT_EQ(toy_candidate(plan, "cu130").diagnosis()->code, one.code) << one.library.path;
    for (const std::string& remedy : one.remedies) EXPECT_THAT(toy_text(plan, "cu130"), HasSubstr(remedy));
    EXPECT_THAT(toy_text(plan, "cu130"), Not(HasSubstr("install the NVIDIA driver (Debian")));
    // The first remedy is also that of the whole plan.
    ASSERT_TRUE(plan.diagnosis);
    EXPECT_THAT(explain::describe(*plan.diagnosis), HasSubstr(one.remedies.front()));
  }
}

TEST(DriverTooOld, IsUpdatedWhereItLives) {
  struct Case {
    const char *wsl, *container, *hardware, *said;
  };
  for (const Case& one :
       {Case{nullptr, nullptr, "10de:2684", "install NVIDIA driver 580.65.06 or newer"},
        {nullptr, "docker", "10de:2684", "update the NVIDIA driver of the host to 580.65.06"},
        {nullptr, "kubernetes", "10de:2684", "update the NVIDIA driver of the host to 580.65.06"},
        {nullptr, "flatpak", "10de:2684", "of the host to 580.65.06 or newer, and the flatpak"},
        {nullptr, "snap", "10de:2684", "of the host to 580.65.06 or newer, and the snap"},
        {"2", nullptr, nullptr, "update the NVIDIA driver in Windows to 580"},
        {"2", "docker", nullptr, "update the NVIDIA driver in Windows to 580"},
        {nullptr, nullptr, "tegra234, L4T 36.4.3", "update JetPack"}}) {
    Platform machine = with_gpus(ubuntu22, "550.54.14", "12.4", {{"RTX 4070", "8.9"}});
    machine.cuda.hardware = one.hardware != nullptr ? Fact<std::string>::known(one.hardware, "/sys/bus/pci")
                                                    : Fact<std::string>::unknown("WSL");
    if (one.wsl != nullptr) machine.wsl = Fact<std::string>::known(one.wsl, "kernel release");
    if (one.container != nullptr) machine.container = Fact<std::string>::known(one.container, "mark");
    const std::string text = toy_text(toy_plan(machine, toy_cu130), "cu130");
    EXPECT_THAT(text, HasSubstr("EH-G03"));
    EXPECT_THAT(text, HasSubstr(one.said));
    EXPECT_EQ(text.find("install NVIDIA driver") != std::string::npos,
              std::string_view(one.said).starts_with("install"))
        << text;
  }
}

TEST(DriverMissing, InAContainerTheVariableIsNamed) {
  for (const char* value : {"void", "none", ""}) {
    Platform machine = ubuntu22;
    machine.container = Fact<std::string>::known("docker", "/.dockerenv");
    machine.cuda.hardware = Fact<std::string>::known("10de:2684", "/sys/bus/pci");
    machine.loader_environment = Fact<Variables>::known({{"NVIDIA_VISIBLE_DEVICES", value}}, "environment");
    EXPECT_THAT(toy_text(toy_plan(machine, toy_cu130), "cu130"),
                AllOf(HasSubstr("EH-G01"), HasSubstr("NVIDIA_VISIBLE_DEVICES=all"), HasSubstr("--gpus all"),
                      Not(HasSubstr("install the NVIDIA driver"))));
  }
}

TEST(RocmDevice, IsNotOfferedWithoutTheKernel) {
  struct Case {
    const char *bus, *code, *said;
  };
  for (const Case& one :
       {Case{"AMD 1002:699f", "EH-S16", "this machine has AMD 1002:699f, but the kernel does not offer it"},
        {"Intel 8086:56a0, AMD 1002:699f", "EH-S16", "dmesg | grep kfd"},
        {"Intel 8086:56a0", "EH-S16", "this machine has no AMD GPU"},
        {"", "EH-S16", "this machine has no AMD GPU"},
        {nullptr, "", ""}}) {
    Platform machine = amd_machine({}, {});
    machine.other_gpus = one.bus == nullptr ? Fact<std::string>::unknown("WSL shows GPUs through /dev/dxg")
                         : *one.bus == 0    ? Fact<std::string>::absent("/sys/bus/pci/devices")
                                            : Fact<std::string>::known(one.bus, "/sys/bus/pci/devices");
    const Plan plan = toy_plan(machine, toy_cpu + "," + toy_rocm);
    const auto diagnosis = toy_candidate(plan, "rocm62").diagnosis();
    EXPECT_EQ(diagnosis ? diagnosis->code_text() : "", one.code) << one.said;
    if (!diagnosis) continue;
    EXPECT_THAT(explain::describe(*diagnosis), HasSubstr(one.said));
    const auto warning = idle_accelerator(plan, machine, *toy_candidate(plan, "cpu").build);
    if (std::string_view(one.bus).ends_with("699f")) {
      ASSERT_TRUE(warning);
      EXPECT_EQ(warning->value(Key::first_code), "EH-S16");
    }
  }
}

}  // namespace
}  // namespace enginehost::resolve
