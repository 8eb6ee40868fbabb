#include "host/linker/loaded_symbols.hpp"

#include <algorithm>

#include "base/paths.hpp"

namespace enginehost::linker {

// The system's are in the shared cache, under these folders. EngineHost's own library is nobody's obstacle.
std::vector<LoadedLibrary> foreign_libraries() {
  std::vector<LoadedLibrary> libraries = loaded_libraries();
  std::erase_if(libraries, [](const LoadedLibrary& library) {
    const std::string& path = path_text(library.path);
    return path.starts_with("/usr/lib/") || path.starts_with("/System/") ||
           path_text(library.path.filename()).starts_with("libenginehost.");
  });
  return libraries;
}

bool may_share_objects() { return false; }
std::vector<LoadedCopy> loaded_copies(const std::string&, const binary::SymbolTable&) { return {}; }

}  // namespace enginehost::linker
