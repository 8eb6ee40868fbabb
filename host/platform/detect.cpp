#include "host/platform/detect.hpp"

#include "host/platform/parts.hpp"

namespace enginehost::platform {

Platform detect(const DetectRequest& request) {
  const Root root(request.root);
  const LibrarySearch libraries(root);
  Platform platform;
  platform.os = detect_os();
  platform.arch = detect_arch();
  platform.kernel = detect_kernel(root);
  platform.distribution = detect_distribution(root);
  platform.libc = detect_libc(root);
  platform.libstdcxx = detect_libstdcxx(root, libraries);
  platform.cpu = detect_cpu();
  platform.memory = detect_memory(root);
  platform.disk = detect_disk(request.cache_folder);
  platform.wsl = detect_wsl(platform.kernel);
  platform.cuda = detect_cuda(root, libraries, platform.wsl, request);
  platform.rocm = detect_rocm(root);
  platform.metal = detect_metal();
  platform.vcruntime = detect_vcruntime(root);
  platform.conda = detect_conda();
  platform.container = detect_container(root);
  platform.loader_environment = detect_loader_environment();
  return platform;
}

}  // namespace enginehost::platform
