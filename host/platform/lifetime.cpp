#include "base/paths.hpp"
#include "host/platform/machine_key.hpp"
#include "host/platform/toolkit_places.hpp"

namespace enginehost::platform {
namespace {

constexpr std::int64_t day = 24 * 60 * 60, ten_minutes = 10 * 60;

void add_dependency_stamp(std::vector<FileDependency>& dependency_stamps, const std::string& path) {
  if (path.empty()) return;
  const auto stamp = stamp_of(path_of(path));
  dependency_stamps.emplace_back(path, stamp ? std::optional(*stamp) : std::nullopt);
}

}  // namespace

std::vector<FileDependency> file_dependencies(const Platform& platform, Reach reach) {
  std::vector<FileDependency> dependency_stamps;
  add_dependency_stamp(dependency_stamps, platform.cuda.library.value().path);
  add_dependency_stamp(dependency_stamps, platform.libstdcxx.value().path);
  if (reach == Reach::decisive) return dependency_stamps;
  for (const Installed& toolkit : platform.cuda.toolkits.value())
    for (const char* file : {"", "/version.json", "/version.txt", "/include", toolkit_library_folder()})
      add_dependency_stamp(dependency_stamps, toolkit.path + file);
  for (const Installed& library : platform.cuda.cudnn.value())
    add_dependency_stamp(dependency_stamps, library.path);
  return dependency_stamps;
}

std::int64_t lifetime_seconds(const Platform& platform) {
  const Cuda& cuda = platform.cuda;
  const bool driver_there = !cuda.library.is_absent() || cuda.driver.is_known();
  const bool answered = cuda.library.is_known() && cuda.devices.is_known() && cuda.driver_cuda.is_known();
  const bool looked_at = platform.os.is_known() && platform.arch.is_known() && !platform.libc.is_unknown() &&
                         !platform.libstdcxx.is_unknown() && !platform.cpu.is_unknown() &&
                         !platform.rocm.is_unknown();
  return looked_at && (!driver_there || answered) ? day : ten_minutes;
}

}  // namespace enginehost::platform
