// A machine with all three states and every member filled, for the tests that write, read and print.
#pragma once
#include "host/platform/platform.hpp"

namespace enginehost::platform {

inline Platform full_platform() {
  Platform p;
  p.os = Fact<std::string>::known("linux", "this program");
  p.arch = Fact<std::string>::known("x86_64", "this program");
  p.kernel = Fact<std::string>::known("6.8.0-45-generic", "uname");
  p.distribution = Fact<Distribution>::known({"ubuntu", "Ubuntu 24.04.1 LTS", "24.04"}, "/etc/os-release");
  p.libc = Fact<Libc>::known({"glibc", "2.39"}, "gnu_get_libc_version");
  p.libstdcxx = Fact<Libstdcxx>::known({"/lib/x86_64-linux-gnu/libstdc++.so.6", "3.4.33", "1.3.15"},
                                       "/etc/ld.so.cache");
  p.cpu = Fact<Cpu>::known({"AMD EPYC 7763", "x86-64-v3", {"avx", "avx2", "fma"}, 64}, "cpuid");
  p.page_size = Fact<std::uint64_t>::known(65536, "sysconf(_SC_PAGESIZE)");
  p.memory = Fact<Memory>::known({540'000'000'000u, 500'000'000'000u}, "/proc/meminfo");
  p.disk = Fact<Disk>::known({"/home/anna/.cache/enginehost", 2'000'000'000'000u, 1'500'000'000'000u, true},
                             "statvfs of /home/anna");
  p.cuda.driver = Fact<std::string>::known("535.104.05", "/proc/driver/nvidia/version");
  p.cuda.driver_cuda = Fact<std::string>::known("12.2", "cuDriverGetVersion");
  p.cuda.devices = Fact<std::vector<CudaDevice>>::known(
      {{0, "NVIDIA A100-SXM4-40GB", "8.0", "GPU-11111111-2222-3333-4444-555555555555", 42'949'672'960u, true},
       {1, "NVIDIA A100-SXM4-40GB", "8.0", "GPU-66666666-7777-8888-9999-aaaaaaaaaaaa", 42'949'672'960u,
        false}},
      "NVML and cuDeviceGet");
  p.cuda.visible_devices = Fact<std::string>::known("GPU-11111111", "CUDA_VISIBLE_DEVICES");
  p.cuda.toolkits = Fact<std::vector<Installed>>::known(
      {{"12.9.1", "/usr/local/cuda-12.9", ""}, {"6.5", "/opt/old", "ignored"}}, "/usr/local/cuda*");
  p.cuda.cudnn = Fact<std::vector<Installed>>::absent("toolkits, /etc/ld.so.cache");
  p.cuda.hardware = Fact<std::string>::known("10de:20b0 x 2", "/sys/bus/pci/devices");
  p.cuda.library =
      Fact<Installed>::known({"535.104.05", "/lib/x86_64-linux-gnu/libcuda.so.1", ""}, "/etc/ld.so.cache");
  p.cuda.init = Fact<std::string>::known("0", "cuInit");
  p.nvidia_module =
      Fact<KernelModule>::known({"/lib/modules/6.8.0/nvidia.ko", "nouveau", true}, "modules.dep");
  p.job = Fact<std::string>::known("slurm", "SLURM_JOB_ID");
  p.rocm = Fact<Rocm>::known({"6.2.0", {"gfx1100"}, {1}}, "/opt/rocm/.info/version");
  p.other_gpus = Fact<std::string>::known("AMD 1002:744c, Intel 8086:56a0", "/sys/bus/pci/devices");
  p.metal = Fact<Metal>::absent("not macOS");
  p.vcruntime = Fact<std::string>::absent("not Windows");
  p.conda = Fact<Conda>::known({"/home/anna/miniconda3", "base"}, "CONDA_PREFIX");
  p.container = Fact<std::string>::known("docker", "/.dockerenv");
  p.wsl = Fact<std::string>::unknown("the kernel's release is not known");
  p.libraries =
      Fact<Variables>::known({{"libz.so.1", "/lib/libz.so.1"}, {"libx.so.1", ""}}, "the loader's folders");
  p.loader_environment = Fact<Variables>::known(
      {{"CUDA_VISIBLE_DEVICES", "GPU-11111111"}, {"LD_LIBRARY_PATH", "/home/anna/lib:/opt/lib"}},
      "environment");
  return p;
}

}  // namespace enginehost::platform
