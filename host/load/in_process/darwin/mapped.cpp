#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {

std::vector<std::filesystem::path> folders_of_environment() {
  std::vector<std::filesystem::path> folders;
  if (const auto variable = environment_variable("DYLD_LIBRARY_PATH"))
    for (const std::string& folder : split(*variable, ':'))
      if (!folder.empty()) folders.push_back(path_of(folder));
  return folders;
}

std::vector<Library> mapped_libraries() {
  std::vector<Library> libraries;
  for (linker::LoadedLibrary& library : linker::loaded_libraries())
    libraries.push_back({std::move(library.soname), path_text(library.path), {}});
  return libraries;
}

}  // namespace enginehost::load
