// For systems that can only list what is mapped; Linux's loader can report less than all (posix/mapped.cpp).
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
