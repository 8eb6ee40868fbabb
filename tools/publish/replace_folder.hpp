// Putting a folder in the place of another.
#pragma once
#include <filesystem>

namespace enginehost::publish {

// Waits until everything below the folder is on the disk. Returns false and sets errno on failure.
bool write_out_below(const std::filesystem::path& folder);

// Swaps two names atomically. Returns false if the file system or the system does not support it.
bool exchange_names(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace enginehost::publish
