// The fingerprint that records of this machine are compared with, including the parts that only the running
// system has.
#pragma once
#include <chrono>
#include <filesystem>
#include <vector>

#include "host/history/store.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::open {

// Returns history::host_fingerprint() and further parts: the program, the boot, the driver library's real
// file and build id, the mount flags of the cache folder and of each layer, the probe program, its deadline
// and its limit of memory (bytes, 0: none), and the process limits. Each part is one stat or small read. Any
// thread.
history::Fingerprint fingerprint_of_this_machine(const platform::Platform& platform,
                                                 const std::filesystem::path& helper,
                                                 const std::filesystem::path& cache_folder,
                                                 const std::vector<std::filesystem::path>& layers,
                                                 std::chrono::seconds probe_deadline,
                                                 std::uint64_t probe_memory);

// Returns the parts that apply to the record of a build in that layer: among the mounts, only the layer's
// own. An empty layer is the cache folder.
history::Fingerprint parts_for(history::Fingerprint parts, const std::filesystem::path& layer);

}  // namespace enginehost::open
