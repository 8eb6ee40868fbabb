// The parts of detect(), one file each. Parts that differ by system lie in the folder named after the system
// (posix holds Linux's), under the same file names. Facts that a system does not have are in its absent.cpp.
// Every function returns one kind of fact, never fails and may run on any thread. A fact that could not be
// determined says why.
#pragma once
#include <string>
#include <vector>

#include "host/platform/detect.hpp"
#include "host/platform/library_search.hpp"
#include "host/platform/platform.hpp"
#include "host/platform/root.hpp"

namespace enginehost::platform {

// system.cpp
Fact<std::string> detect_os();
Fact<std::string> detect_arch();
Fact<std::string> detect_kernel(const Root& root);
Fact<Distribution> detect_distribution(const Root& root);

Fact<Libc> detect_libc(const Root& root);                                             // libc.cpp
Fact<Libstdcxx> detect_libstdcxx(const Root& root, const LibrarySearch& libraries);   // libstdcxx.cpp
Fact<Cpu> detect_cpu();                                                               // cpu.cpp
Fact<Memory> detect_memory(const Root& root);                                         // memory.cpp
Fact<Disk> detect_disk(const std::filesystem::path& cache_folder);                    // disk.cpp
Fact<Rocm> detect_rocm(const Root& root);                                             // rocm.cpp
Fact<std::string> detect_other_gpus(const Root& root, const Fact<std::string>& wsl);  // other_gpus.cpp
Fact<Conda> detect_conda();                                                           // conda.cpp
Fact<std::string> detect_container(const Root& root);                                 // container.cpp
Fact<std::string> detect_wsl(const Fact<std::string>& kernel);                        // wsl.cpp
Fact<Metal> detect_metal();
Fact<std::string> detect_vcruntime(const Root& root);  // vcruntime.cpp
Fact<Variables> detect_loader_environment();           // loader_environment.cpp

// toolkits.cpp, cudnn.cpp
Fact<std::vector<Installed>> detect_toolkits(const Root& root, const LibrarySearch& libraries);
Fact<std::vector<Installed>> detect_cudnn(const Root& root, const LibrarySearch& libraries,
                                          const std::vector<Installed>& toolkits);

// cuda.cpp: first the facts about hardware and driver that files hold, then the driver's answers if anything
// of NVIDIA is present.
Cuda detect_cuda(const Root& root, const LibrarySearch& libraries, const Fact<std::string>& wsl,
                 const DetectRequest& request);

}  // namespace enginehost::platform
