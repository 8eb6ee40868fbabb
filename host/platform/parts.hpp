// The parts of detect(), one file each; those that a system does in its own way lie in the folder named after
// it (posix is Linux's), under the same file names, and what a system has nothing of in absent.cpp there.
// Every function looks at one kind of fact, never fails and may run on any thread; what could not be found
// out is said in the fact.
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

Fact<Libc> detect_libc(const Root& root);                                            // libc.cpp
Fact<Libstdcxx> detect_libstdcxx(const Root& root, const LibrarySearch& libraries);  // libstdcxx.cpp
Fact<Cpu> detect_cpu();                                                              // cpu.cpp
Fact<Memory> detect_memory(const Root& root);                                        // memory.cpp
Fact<Disk> detect_disk(const std::filesystem::path& cache_folder);                   // disk.cpp
Fact<Rocm> detect_rocm(const Root& root);                                            // rocm.cpp
Fact<Conda> detect_conda();                                                          // conda.cpp
Fact<std::string> detect_container(const Root& root);                                // container.cpp
Fact<std::string> detect_wsl(const Fact<std::string>& kernel);                       // wsl.cpp
Fact<Metal> detect_metal();
Fact<std::string> detect_vcruntime(const Root& root);  // vcruntime.cpp
Fact<Variables> detect_loader_environment();           // loader_environment.cpp

// toolkits.cpp, cudnn.cpp
Fact<std::vector<Installed>> detect_toolkits(const Root& root, const LibrarySearch& libraries);
Fact<std::vector<Installed>> detect_cudnn(const Root& root, const LibrarySearch& libraries,
                                          const std::vector<Installed>& toolkits);

// cuda.cpp: what files tell of hardware and driver, then the driver's own answer if anything of NVIDIA is
// there.
Cuda detect_cuda(const Root& root, const LibrarySearch& libraries, const Fact<std::string>& wsl,
                 const DetectRequest& request);

}  // namespace enginehost::platform
