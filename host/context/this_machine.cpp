#include "host/context/this_machine.hpp"

#include <system_error>

#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/binary/binary.hpp"
#include "host/history/program.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

// Returns the file behind the links and its build id, which differs between drivers of the same version
// number.
std::string identity_of_library(const fs::path& library) {
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  if (error) return path_text(library) + " (cannot be read)";
  const auto info = binary::read_binary(real);
  return path_text(real) + " " +
         (info && !info->build_id.empty() ? info->build_id : std::string("without build id"));
}

constexpr std::string_view mount_of_cache = "mount of the cache folder",
                           mount_of_layer = "mount of the layer ";

// Returns the flags of the folder, or of its nearest existing parent.
std::string mount_flags_of(fs::path folder) {
  std::string flags = mount_flags(folder);
  while (flags.empty() && folder.has_relative_path()) {
    folder = folder.parent_path();
    flags = mount_flags(folder);
  }
  return flags;
}

}  // namespace

history::Fingerprint fingerprint_of_this_machine(const platform::Platform& platform, const fs::path& helper,
                                                 const fs::path& cache_folder,
                                                 const std::vector<fs::path>& layers,
                                                 std::chrono::seconds probe_deadline,
                                                 std::uint64_t probe_memory) {
  history::Fingerprint parts = history::host_fingerprint(platform);
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty()) parts.emplace_back(name, std::move(value));
  };
  add(history::boot_part, history::boot_id());
  add(history::program_part, history::program_id());
  if (platform.cuda.library.is_known())
    add("file of the driver library", identity_of_library(path_of(platform.cuda.library.value().path)));
  add(mount_of_cache, mount_flags_of(cache_folder));
  for (const fs::path& layer : layers)
    add(std::string(mount_of_layer) + path_text(layer), mount_flags(layer));
  if (const auto stamp = stamp_of(helper))
    add(history::helper_part,
        std::to_string(stamp->size) + " bytes of " + std::to_string(stamp->modified_ns));
  add(history::deadline_part, history::deadline_text(probe_deadline));
  add(history::probe_memory_part, history::probe_memory_text(probe_memory));
  for (auto& [name, value] : history::process_limits()) add(name, std::move(value));
  return parts;
}

history::Fingerprint parts_for(history::Fingerprint parts, const fs::path& layer) {
  const std::string own = std::string(mount_of_layer) + path_text(layer);
  std::erase_if(parts, [&](const auto& part) {
    const std::string& name = part.first;
    if (name.starts_with(mount_of_layer)) return layer.empty() || name != own;
    return !layer.empty() && name == mount_of_cache;
  });
  return parts;
}

}  // namespace enginehost::open
