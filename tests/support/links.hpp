// Symbolic links, which not every user of Windows may make, and which Wine 8 never makes.
#pragma once
#include <filesystem>

#include "base/file_calls.hpp"

namespace enginehost::test {

inline bool makes_links(const std::filesystem::path& folder) {
  const std::filesystem::path link = folder / "tried-link";
  calls::Status status{};
  // Wine 8 reports success without making one.
  const bool made =
      calls::symlink("target", link) == 0 && calls::lstat(link, &status) == 0 && S_ISLNK(status.st_mode);
  calls::unlink(link);
  return made;
}

}  // namespace enginehost::test
