// Removal of a folder with its content.
#pragma once
#include <filesystem>
#include <system_error>

namespace enginehost {

// Removes as much as possible and puts the first reason for a failure into `error`. A missing folder is no error. Links
// are removed, not followed. std::filesystem::remove_all of libstdc++ is not used because it loops forever on Windows
// when something inside is open. Thread safety: any thread.
void remove_tree(const std::filesystem::path& folder, std::error_code& error);

}  // namespace enginehost
