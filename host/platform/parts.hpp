// The parts of detect(). Every function returns one kind of fact, never fails and may run on any thread. A
// fact that could not be determined says why. system.cpp of each system (posix is Linux's) holds those that
// ask it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/cpuid.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/library_search.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

Fact<std::string> detect_os();
Fact<std::string> detect_arch();
Fact<std::string> detect_kernel(const Root& root);
Fact<Distribution> detect_distribution(const Root& root);
Fact<Cpu> detect_cpu();
Fact<Memory> detect_memory(const Root& root);
Fact<Disk> detect_disk(const std::filesystem::path& cache_folder);

// Facts that not every system has. detect_own_facts() fills those of this one.
Fact<Libc> detect_libc(const Root& root);
Fact<Libstdcxx> detect_libstdcxx(const Root& root, const LibrarySearch& libraries);
Fact<std::string> detect_container(const Root& root);
Fact<std::string> detect_wsl(const Fact<std::string>& kernel);
Fact<Rocm> detect_rocm(const Root& root);
Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>& wsl);
Fact<Metal> detect_metal();
Fact<std::string> detect_vcruntime(const Root& root);
void detect_own_facts(Platform& platform, const Root& root, const LibrarySearch& libraries);

Fact<Conda> detect_conda();
Fact<Variables> detect_loader_environment();

// Returns true for LD_*, CUDA_*, NVIDIA_* and the like, which change what a loader or a GPU runtime finds.
// Values of other variables are never read, because they are private.
bool is_loader_variable(std::string_view name);

// Returns all variables of this process in their order. On Windows, where case does not matter, names are in
// upper case. Any thread, as long as no thread changes the environment.
Variables process_variables();

// Returns feature names and the x86-64-v level from the answers of CPUID and XGETBV. Features whose registers
// the system does not save are left out even if CPUID lists them, because using them raises SIGILL.
Cpu x86_cpu(const Cpuid& answers);

// toolkits.cpp, cudnn.cpp
Fact<std::vector<Installed>> detect_toolkits(const Root& root, const LibrarySearch& libraries);
Fact<std::vector<Installed>> detect_cudnn(const Root& root, const LibrarySearch& libraries,
                                          const std::vector<Installed>& toolkits);

// cuda.cpp: first the facts about hardware and driver that files hold, then the driver's answers if anything
// of NVIDIA is present.
Cuda detect_cuda(const Root& root, const LibrarySearch& libraries, const Fact<std::string>& wsl,
                 const DetectRequest& request);

}  // namespace enginehost::platform
