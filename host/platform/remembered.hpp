// What the last look at this machine saw, for the next process: asking a GPU's driver takes longer than all
// else.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "host/platform/detect.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

// The remembered facts, with memory and disk as they are now. Nothing when there are none, when their time is
// over (lifetime_seconds), or when what they rest on is another than `key`, which is machine_key(request,
// everything), or than the files they were read from. Any thread.
std::optional<Platform> recall(const DetectRequest& request, const std::string& key,
                               const std::filesystem::path& file, std::int64_t now);

// Writes them down, by rename and without syncing; not being able to is no failure. `key` is from before the
// look.
void remember(const Platform& platform, const std::string& key, const std::filesystem::path& file,
              std::int64_t now);

}  // namespace enginehost::platform
