// What a record of this machine is held to: its fingerprint, with the parts that only the running system can
// tell.
#pragma once
#include <chrono>
#include <filesystem>
#include <vector>

#include "host/history/store.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::open {

// history::host_fingerprint() and beside it the program, the start of the machine, the driver library's real
// file and build id, the flags the cache folder and each layer are mounted with, which helper probes and for
// how long it may, and the limits that it runs under. One stat or small read each. Any thread.
history::Fingerprint fingerprint_of_this_machine(const platform::Platform& platform,
                                                 const std::filesystem::path& helper,
                                                 const std::filesystem::path& cache_folder,
                                                 const std::vector<std::filesystem::path>& layers,
                                                 std::chrono::seconds probe_deadline);

// Of these parts those that the record of a build in that layer is held to, of its mounts only the layer's
// own. An empty layer is the cache folder.
history::Fingerprint parts_for(history::Fingerprint parts, const std::filesystem::path& layer);

}  // namespace enginehost::open
