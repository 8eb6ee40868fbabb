// The facts of a platform by name, in one list for writing, reading and printing.
#pragma once
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// Calls visit(name, fact) for each fact of the cuda part, in the order of the contract.
template <class CudaPart, class Visit>
void for_each_cuda_fact(CudaPart& cuda, Visit&& visit) {
  visit("driver", cuda.driver);
  visit("driver_cuda", cuda.driver_cuda);
  visit("devices", cuda.devices);
  visit("visible_devices", cuda.visible_devices);
  visit("toolkits", cuda.toolkits);
  visit("cudnn", cuda.cudnn);
  visit("hardware", cuda.hardware);
  visit("library", cuda.library);
  visit("init", cuda.init);
}

// Calls visit(name, fact) for each fact before and after the cuda part, and visit_cuda("cuda", cuda) between
// them.
template <class AnyPlatform, class Visit, class VisitCuda>
void for_each_fact(AnyPlatform& platform, Visit&& visit, VisitCuda&& visit_cuda) {
  visit("os", platform.os);
  visit("distribution", platform.distribution);
  visit("arch", platform.arch);
  visit("kernel", platform.kernel);
  visit("libc", platform.libc);
  visit("libstdcxx", platform.libstdcxx);
  visit("cpu", platform.cpu);
  visit("memory", platform.memory);
  visit("disk", platform.disk);
  visit_cuda("cuda", platform.cuda);
  visit("rocm", platform.rocm);
  visit("other_gpus", platform.other_gpus);
  visit("metal", platform.metal);
  visit("vcruntime", platform.vcruntime);
  visit("conda", platform.conda);
  visit("container", platform.container);
  visit("wsl", platform.wsl);
  visit("loader_environment", platform.loader_environment);
  visit("libraries", platform.libraries);
}

}  // namespace enginehost::platform
