// Drivers that fail, kernels without their module, jobs without a GPU: each refusal has the remedy of its
// cause.
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
using testing::HasSubstr;
using testing::Not;

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
    EXPECT_EQ(warning->value(Key::first_code), code);
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
  for (const char* init : {"100", "999"})
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
      EXPECT_THAT(toy_text(toy_plan(machine, toy_cu130, "cuda"), "cu130"), Not(HasSubstr("EH-G21")));
    }
}

TEST(NoVisibleGpu, WithoutAnNvidiaGpuThereIsNothingToCheck) {
  Platform machine = failing_driver(nullptr, same_library, "100");
  machine.cuda.hardware = Fact<std::string>::absent("/sys/bus/pci/devices");
  EXPECT_THAT(toy_text(toy_plan(machine, toy_cu130, "cuda"), "cu130"),
              AllOf(HasSubstr("EH-G07"), HasSubstr("this machine has no NVIDIA GPU"),
                    HasSubstr("use a cpu build"), Not(HasSubstr("check with nvidia-smi"))));
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
