// Packs a folder as one archive.
#pragma once
#include <filesystem>

#include "base/result.hpp"

namespace enginehost::publish {

// Writes a tar.zst of every file and link below `folder`: sorted, without times, owners and folders, so that
// the same files give the same bytes. Error: EH-M17 ("file", "problem") for entries that an archive cannot
// hold and for disk failures. Any thread.
Result<void> pack_folder(const std::filesystem::path& folder, const std::filesystem::path& archive);

}  // namespace enginehost::publish
