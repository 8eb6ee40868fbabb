#include "base/paths.hpp"
#include "host/platform/machine_key.hpp"
#include "host/platform/toolkit_places.hpp"

namespace enginehost::platform {
namespace {

constexpr std::int64_t day = 24 * 60 * 60, ten_minutes = 10 * 60;

void add_witness(std::vector<FileWitness>& witnesses, const std::string& path) {
  if (path.empty()) return;
  const auto stamp = stamp_of(path_of(path));
  witnesses.emplace_back(path, stamp ? std::optional(*stamp) : std::nullopt);
}

}  // namespace

std::vector<FileWitness> file_witnesses(const Platform& platform, Reach reach) {
  std::vector<FileWitness> witnesses;
  add_witness(witnesses, platform.cuda.library.value().path);
  add_witness(witnesses, platform.libstdcxx.value().path);
  if (reach == Reach::decisive) return witnesses;
  for (const Installed& toolkit : platform.cuda.toolkits.value())
    for (const char* file : {"", "/version.json", "/version.txt", "/include", toolkit_library_folder()})
      add_witness(witnesses, toolkit.path + file);
  for (const Installed& library : platform.cuda.cudnn.value()) add_witness(witnesses, library.path);
  return witnesses;
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
