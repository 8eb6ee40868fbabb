// Moving what lies in the store out of its place; for the store's own files only.
#pragma once
#include <filesystem>

namespace enginehost::cache::inside {

// As rename(), with 0 or an errno, and also where the file system moves a folder's files but not the folder:
// overlayfs (a container whose image brought the folder) answers EXDEV. There it is made again and its
// entries follow one by one; who dies meanwhile leaves a part of them in each place, and the old one is
// damaged as it was.
int move_away(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace enginehost::cache::inside
