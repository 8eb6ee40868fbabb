// The facts of the last detection, kept for the next process, because querying a GPU's driver takes longer
// than everything else.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "host/platform/detect.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// Returns the remembered facts, with current values for memory and disk. Returns nothing when none are
// stored, when they are older than lifetime_seconds(), when `key` (machine_key(request, everything)) differs,
// or when the files they were read from changed. Any thread.
std::optional<Platform> recall(const DetectRequest& request, const std::string& key,
                               const std::filesystem::path& file, std::int64_t now);

// Stores the facts by rename and without syncing; a failure to write is ignored. `key` must have been
// computed before the detection.
void remember(const Platform& platform, const std::string& key, const std::filesystem::path& file,
              std::int64_t now);

}  // namespace enginehost::platform
