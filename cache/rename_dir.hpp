// Moving folders of the store. Internal to the store.
#pragma once
#include <filesystem>

namespace enginehost::cache::inside {

// Renames like rename() and returns 0 or an errno. It also works where the file system moves files but not
// their folder: overlayfs answers EXDEV for a folder of the container's image. The folder is then created
// again and its entries are moved one by one. If the process dies meanwhile, each place has a part, and the
// old folder counts as damaged, as before.
int move_away(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace enginehost::cache::inside
