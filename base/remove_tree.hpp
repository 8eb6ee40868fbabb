// Removing a folder with all that is in it.
#pragma once
#include <filesystem>
#include <system_error>

namespace enginehost {

// What cannot be removed stays, and the first reason is in `error`; a folder that is not there is no error. Links are
// removed, not followed. Not std::filesystem::remove_all: that of libstdc++ goes round for ever on Windows where
// something inside is held open, since its name stays until it is closed. Any thread.
void remove_tree(const std::filesystem::path& folder, std::error_code& error);

}  // namespace enginehost
