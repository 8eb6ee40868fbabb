// Where a list of what is mapped is all that there is; Linux's loader is asked for less (posix/mapped.cpp).
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {

MappedPaths MappedPaths::now() {
  MappedPaths paths;
  for (const Library& library : mapped_libraries()) paths.add(library.path);
  return paths;
}

std::vector<Library> mapped_since(const MappedPaths& before) {
  std::vector<Library> libraries = mapped_libraries();
  std::erase_if(libraries, [&](const Library& library) { return before.has(library.path); });
  return libraries;
}

}  // namespace enginehost::load
