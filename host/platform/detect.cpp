#include "host/platform/detect.hpp"

#include <algorithm>
#include <utility>

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
  platform.other_gpus = detect_other_gpus(root, platform.wsl);
  platform.metal = detect_metal();
  platform.vcruntime = detect_vcruntime(root);
  platform.conda = detect_conda();
  platform.container = detect_container(root);
  platform.loader_environment = detect_loader_environment();
  return platform;
}

void look_for_libraries(Platform& platform, std::vector<std::string> names,
                        const std::filesystem::path& root_folder) {
  std::erase_if(names,
                [](const std::string& name) { return name.find_first_of("/\\") != std::string::npos; });
  if (names.empty()) return;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const Root root(root_folder);
  const LibrarySearch libraries(root);
  Variables answers;
  for (std::string& name : names) {
    const auto found = libraries.find(name);
    // A file that exists but is no library for this process is left to the check before loading.
    if (found || !libraries.is_named(name))
      answers.emplace_back(std::move(name), found ? found->path : std::string());
  }
  platform.libraries = Fact<Variables>::known(std::move(answers), libraries.places());
}

}  // namespace enginehost::platform
