// Paths in records of a cache that was moved or copied.
#pragma once
#include <string>

#include "base/paths.hpp"
#include "cache/installed.hpp"

namespace enginehost::open {

// Returns the recorded absolute path in the build's current view, if it was in the build's view. Returns
// other paths unchanged.
inline std::string rebase_into_view(const std::string& recorded, const cache::Installed& installed) {
  const std::string view = "/views/" + installed.digest + "/";
  const std::string path(generic_text(path_of(recorded)));
  const std::size_t at = path.find(view);
  if (at == std::string::npos) return recorded;
  return std::string(path_text(installed.folder / path_of(path.substr(at + view.size()))));
}

}  // namespace enginehost::open
