// Records of a cache that was moved or copied since they were written.
#pragma once
#include <string>

#include "base/paths.hpp"
#include "cache/installed.hpp"

namespace enginehost::open {

// Records tell absolute paths. What lay in the build's view is looked for in the view as it lies now; other
// paths are as they were.
inline std::string rebase_into_view(const std::string& recorded, const cache::Installed& installed) {
  const std::string view = "/views/" + installed.digest + "/";
  const std::string path(generic_text(path_of(recorded)));
  const std::size_t at = path.find(view);
  if (at == std::string::npos) return recorded;
  return std::string(path_text(installed.folder / path_of(path.substr(at + view.size()))));
}

}  // namespace enginehost::open
