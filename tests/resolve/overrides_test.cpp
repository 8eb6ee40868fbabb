// Variables, named devices and drivers out of reach: each decides between builds, and a refusal names it.
#include <gmock/gmock.h>

#include "host/explain/explain.hpp"
#include "host/resolve/checks.hpp"
#include "host/resolve/passed_over.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {
namespace {

using platform::Installed;
using platform::Variables;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

manifest::Catalog toy_catalog(const std::string& builds) {
  const auto document =
      parse_json(R"({"format":1,"engine":"toy","serial":1,"created":"2026-01-01T00:00:00Z",)"
                 R"("expires":"2036-01-01T00:00:00Z","licenses":{"toy":{"id":"MIT","accept":"implicit"}},)"
                 R"("components":{"p":{"version":"1.0","license":"toy","artifacts":[{"sha256":")" +
                     std::string(64, '0') +
                     R"(","size":1,"archive":"zip","sources":[{"url":"https://example.invalid/p.zip"}]}]}},)"
                     R"("builds":[)" +
                     builds + "]}",
                 "toy.json");
  EXPECT_TRUE(document);
  manifest::Catalog made;
  const auto manifest = manifest::read_manifest(*document, "/repository", "toy.json");
  EXPECT_TRUE(manifest) << (manifest ? "" : std::string(manifest.error().value("problem")));
  if (manifest) merge(made, *manifest);
  return made;
}

std::string toy_build(const std::string& flavor, const std::string& requires_) {
  return R"({"id":"toy-1.0-)" + flavor + R"(","version":"1.0","flavor":")" + flavor +
         R"(","os":"linux","arch":"x86_64","requires":)" + requires_ +
         R"(,"plugin":{"component":"p","path":"libengine_toy.so"},"components":[]})";
}

const std::string toy_cpu = toy_build("cpu", "{}"),
                  toy_rocm =
                      toy_build("rocm62", R"({"rocm":{"version":">=6.0","gfx":["gfx1030","gfx1100"]}})"),
                  toy_cu130 = toy_build(
                      "cu130", R"({"cuda":{"toolkit":"13.0","sass":["8.0","12.0"],"ptx":["12.0"]}})"),
                  toy_cu126 =
                      toy_build("cu126", R"({"cuda":{"toolkit":"12.6","sass":["6.0","8.0"],"ptx":["9.0"]}})");

Plan toy_plan(const Platform& machine, const std::string& builds, const std::string& device = "") {
  Request request;
  request.engine = "toy";
  request.device = device;
  return decide(machine, toy_catalog(builds), {}, request, now);
}

const Candidate& toy_candidate(const Plan& plan, const std::string& flavor) {
  for (const Candidate& one : plan.candidates)
    if (one.build->flavor == flavor) return one;
  ADD_FAILURE() << flavor;
  return plan.candidates.front();
}

std::string toy_text(const Plan& plan, const std::string& flavor) {
  const auto diagnosis = toy_candidate(plan, flavor).diagnosis();
  return diagnosis ? explain::describe(*diagnosis) : "fits";
}

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
    const auto refused = std::ranges::find(toy_candidate(plan, "rocm62").checks, "EH-S16", &Check::code);
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

// A machine whose library is found and whose cuInit returned the error.
Platform failing_driver(const char* kernel, Installed library, const char* init) {
  Platform machine = ubuntu22;
  machine.cuda.driver = kernel != nullptr ? Fact<std::string>::known(kernel, "/proc/driver/nvidia/version")
                                          : Fact<std::string>::absent("/proc/driver/nvidia/version");
  machine.cuda.driver_cuda = Fact<std::string>::known("13.0", "cuDriverGetVersion");
  machine.cuda.library = Fact<Installed>::known(std::move(library), "/etc/ld.so.cache");
  machine.cuda.hardware = Fact<std::string>::known("10de:20b0", "/sys/bus/pci/devices");
  machine.cuda.init = Fact<std::string>::known(init, "cuInit");
  const std::string why = std::string("cuInit said ") + init;
  machine.cuda.devices = init == std::string_view("100")
                             ? Fact<std::vector<platform::CudaDevice>>::absent(why)
                             : Fact<std::vector<platform::CudaDevice>>::unknown(why);
  return machine;
}

const Installed same_library = {"580.65.06", "/lib/libcuda.so.1", ""},
                old_library = {"550.54.14", "/lib/libcuda.so.1", "the kernel driver is 580.65.06"},
                compat_library = {"590.44.01", "/usr/local/cuda/compat/libcuda.so.1", ""};

TEST(DriverThatFails, IsRefusedWithTheRemedyOfItsError) {
  struct Case {
    Installed library;
    const char *init, *container, *code, *remedy;
  };
  const Case cases[] = {
      {old_library, "803", nullptr, "EH-G09", "restart the machine"},
      {old_library, "804", nullptr, "EH-G09", "restart the machine"},
      {old_library, "803", "docker", "EH-G09", "remove /lib/libcuda.so.1 from the image"},
      {old_library, "803", "lxc", "EH-G09", "install the libraries of driver 580.65.06 inside the container"},
      {compat_library, "803", nullptr, "EH-G09", "take /usr/local/cuda/compat out of LD_LIBRARY_PATH"},
      {compat_library, "804", nullptr, "EH-G10", "take /usr/local/cuda/compat out of LD_LIBRARY_PATH"},
      {compat_library, "804", "docker", "EH-G10", "take /usr/local/cuda/compat out of LD_LIBRARY_PATH"},
      {same_library, "3", nullptr, "EH-G13", "uvm_disable_hmm=1"},
      {same_library, "999", nullptr, "EH-G13", "nvidia-modprobe -u -c=0"},
      {same_library, "999", "lxc", "EH-G13", "if /dev/nvidia-uvm is missing here"},
      {same_library, "304", nullptr, "EH-G13", "restart the machine"},
  };
  for (const Case& one : cases) {
    Platform machine = failing_driver("580.65.06", one.library, one.init);
    if (one.container != nullptr) machine.container = Fact<std::string>::known(one.container, "mark");
    const Plan plan = toy_plan(machine, toy_cu130 + "," + toy_cu126, "cuda");
    for (const char* flavor : {"cu130", "cu126"}) {
      ASSERT_TRUE(toy_candidate(plan, flavor).diagnosis()) << one.init;
      EXPECT_EQ(toy_candidate(plan, flavor).diagnosis()->code, one.code) << one.init;
      EXPECT_THAT(toy_text(plan, flavor), HasSubstr(one.remedy)) << one.init;
    }
    ASSERT_TRUE(plan.diagnosis);
    EXPECT_EQ(explain::describe(*plan.diagnosis).find("forked"), std::string::npos);
  }
}

TEST(DriverThatFails, StaysPossibleIfTheErrorPasses) {
  for (const char* init : {"2", "46", "802", "805", "807", "12345"}) {
    const Plan plan = toy_plan(failing_driver("580.65.06", same_library, init), toy_cu130, "cuda");
    EXPECT_FALSE(toy_candidate(plan, "cu130").diagnosis()) << init;
  }
  // The warning that the processor is used names the class, which has the remedy.
  for (const auto& [init, code] : {std::pair{"802", "EH-G11"}, {"46", "EH-G12"}, {"", "EH-G22"}}) {
    Platform machine = failing_driver("580.65.06", same_library, *init != 0 ? init : "0");
    if (*init == 0) machine.cuda.init = Fact<std::string>::unknown("the driver did not answer in 15 s");
    const Plan plan = toy_plan(machine, toy_cu130 + "," + toy_cpu);
    const auto warning = idle_accelerator(plan, machine, *toy_candidate(plan, "cpu").build);
    ASSERT_TRUE(warning) << code;
    EXPECT_EQ(warning->value("first_code"), code);
  }
}

TEST(DriverWithoutModule, G21SaysWhatKeepsTheModuleOut) {
  struct Case {
    platform::KernelModule module;
    const char *container, *remedy;
  };
  const Case cases[] = {
      {{"", "", false}, nullptr, "install the headers of kernel 6.8.0-31-generic"},
      {{"", "nouveau", true}, nullptr, "install the headers of kernel 6.8.0-31-generic"},
      {{"/lib/modules/k/nvidia.ko", "", true}, nullptr, "mokutil --import"},
      {{"/lib/modules/k/nvidia.ko", "nouveau", false}, nullptr, "blacklist nouveau"},
      {{"/lib/modules/k/nvidia.ko", "vfio-pci", false}, nullptr, "virtual machine"},
      {{"/lib/modules/k/nvidia.ko", "", false}, nullptr, "modprobe nvidia"},
      {{}, "docker", "load the NVIDIA driver on the host"},
  };
  for (const char* init : {"100", "999", "3"})
    for (const Case& one : cases) {
      Platform machine = failing_driver(nullptr, same_library, init);
      machine.kernel = Fact<std::string>::known("6.8.0-31-generic", "uname");
      if (one.container != nullptr)
        machine.container = Fact<std::string>::known(one.container, "mark");
      else
        machine.nvidia_module = Fact<platform::KernelModule>::known(one.module, "modules.dep");
      const Plan plan = toy_plan(machine, toy_cu130, "cuda");
      EXPECT_EQ(toy_candidate(plan, "cu130").diagnosis()->code, "EH-G21") << one.remedy;
      EXPECT_THAT(explain::describe(*plan.diagnosis), HasSubstr(one.remedy)) << "it is the first remedy";
      machine.cuda.hardware = Fact<std::string>::absent("/sys/bus/pci/devices");
      EXPECT_THAT(toy_text(toy_plan(machine, toy_cu130, "cuda"), "cu130"),
                  AllOf(HasSubstr("EH-G01"), HasSubstr("there is nothing to install")));
    }
}

TEST(NoVisibleGpu, AJobWithoutAGpuRequestsOne) {
  for (const auto& [scheduler, command] :
       {std::pair{"slurm", "--gres=gpu:1"}, {"pbs", "qsub -l select=1:ngpus=1"}, {"lsf", "bsub -gpu num=1"}})
    for (const char* variable : {"NoDevFiles", "", "(not set)", "9"}) {
      Platform machine = failing_driver("580.65.06", same_library, "100");
      machine.job = Fact<std::string>::known(scheduler, "environment");
      machine.cuda.visible_devices = variable[0] == '('
                                         ? Fact<std::string>::absent("CUDA_VISIBLE_DEVICES")
                                         : Fact<std::string>::known(variable, "CUDA_VISIBLE_DEVICES");
      const std::string text = toy_text(toy_plan(machine, toy_cu130, "cuda"), "cu130");
      EXPECT_THAT(text, HasSubstr("EH-G07"));
      const bool was_given_some = variable[0] == '9';
      EXPECT_EQ(text.find(command) == std::string::npos, was_given_some) << variable << text;
    }
}

TEST(NoVisibleGpu, SaysWhetherTheDriverOrNvmlKnowsTheGpu) {
  Platform refused = failing_driver("590.44.01", {"590.44.01", "/lib/libcuda.so.1", ""}, "100");
  refused.cuda.visible_devices = Fact<std::string>::absent("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(toy_text(toy_plan(refused, toy_cu130, "cuda"), "cu130"),
              AllOf(HasSubstr("the driver 590.44.01 uses none of this machine's NVIDIA GPUs (10de:20b0)"),
                    HasSubstr("dmesg | grep -A3 NVRM"), Not(HasSubstr("check with nvidia-smi"))));
  refused.container = Fact<std::string>::known("docker", "/.dockerenv");
  EXPECT_THAT(toy_text(toy_plan(refused, toy_cu130, "cuda"), "cu130"), HasSubstr("docker: --gpus all"));
  Platform split = failing_driver("580.65.06", same_library, "100");
  split.cuda.visible_devices = Fact<std::string>::absent("CUDA_VISIBLE_DEVICES");
  split.cuda.devices =
      Fact<std::vector<platform::CudaDevice>>::known({{0, "NVIDIA A100", "8.0", "", 0, false}}, "NVML");
  EXPECT_THAT(toy_text(toy_plan(split, toy_cu130, "cuda"), "cu130"),
              AllOf(HasSubstr("NVML lists NVIDIA A100, but CUDA offers no device"),
                    HasSubstr("nvidia-smi mig"), Not(HasSubstr("check with nvidia-smi that"))));
  split.cuda.visible_devices = Fact<std::string>::known("7", "CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(
      toy_text(toy_plan(split, toy_cu130, "cuda"), "cu130"),
      AllOf(HasSubstr("CUDA_VISIBLE_DEVICES=\"7\" hides all 1 GPUs"), Not(HasSubstr("nvidia-smi mig"))));
}

TEST(DriverMissing, IsToBeHadWhereTheContainerOrWslGetsIt) {
  struct Case {
    const char *container, *wsl, *said, *not_said;
  };
  for (const Case& one : {Case{"kubernetes", nullptr, "nvidia.com/gpu: 1", "NVIDIA_VISIBLE_DEVICES=all"},
                          {"docker", nullptr, "NVIDIA_VISIBLE_DEVICES=all", "nvidia.com/gpu: 1"},
                          {"lxc", nullptr, "install the libraries of driver 580.65.06 inside", "--gpus all"},
                          {"systemd-nspawn", nullptr, "--no-kernel-module", "access to the host's GPU"},
                          {nullptr, "1", "wsl --set-version", "wsl --shutdown"},
                          {nullptr, "2", "wsl --shutdown", "wsl --set-version"}}) {
    Platform machine = ubuntu22;
    machine.cuda.hardware = Fact<std::string>::known("10de:2684", "/sys/bus/pci/devices");
    if (one.wsl != nullptr) machine.wsl = Fact<std::string>::known(one.wsl, "kernel release");
    if (one.container != nullptr) {
      machine.container = Fact<std::string>::known(one.container, "mark");
      machine.cuda.driver = Fact<std::string>::known("580.65.06", "/proc/driver/nvidia/version");
      machine.cuda.driver_cuda = Fact<std::string>::absent("no libcuda.so.1");
      machine.loader_environment =
          Fact<Variables>::known({{"NVIDIA_VISIBLE_DEVICES", "void"}}, "environment");
    }
    EXPECT_THAT(toy_text(toy_plan(machine, toy_cu130), "cu130"),
                AllOf(HasSubstr("EH-G01"), HasSubstr(one.said), Not(HasSubstr(one.not_said))));
  }
}

TEST(ProcessorTooOld, AVirtualMachineMayGetThatOfItsHost) {
  const std::string toy_avx = toy_build("cpu", R"({"cpu":["avx","fma"]})");
  for (const bool is_virtual : {true, false})
    for (const auto& [has, missing] : {std::pair<std::vector<std::string>, const char*>{{"sse2"}, "avx fma"},
                                       {{"avx"}, "fma"},
                                       {{"avx", "fma"}, nullptr}}) {
      Platform machine = ubuntu22;
      std::vector<std::string> features = has;
      if (is_virtual) features.emplace_back("hypervisor");
      machine.cpu =
          Fact<platform::Cpu>::known({"QEMU Virtual CPU version 2.5+", "x86-64-v1", features, 4}, "cpuid");
      const Plan plan = toy_plan(machine, toy_avx);
      ASSERT_EQ(plan.diagnosis.has_value(), missing != nullptr);
      if (missing == nullptr) continue;
      const std::string text = explain::describe(*plan.diagnosis);
      EXPECT_EQ(text.find("CPU type host") != std::string::npos, is_virtual) << text;
      EXPECT_EQ(text.find(std::string("processor has ") + missing) != std::string::npos, is_virtual) << text;
    }
}

}  // namespace
}  // namespace enginehost::resolve
