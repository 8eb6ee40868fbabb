#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/windows.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {

std::vector<std::filesystem::path> folders_of_environment() {
  const linker::WindowsMachine machine = linker::describe_this_windows();
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : machine.path)
    if (!to_lower(folder).starts_with(to_lower(machine.windows_directory)))
      folders.push_back(path_of(folder));
  return folders;
}

std::vector<Library> mapped_libraries() {
  std::vector<Library> libraries;
  // The first module is the program itself.
  const std::vector<linker::LoadedLibrary> modules = linker::loaded_modules();
  for (std::size_t i = 1; i < modules.size(); ++i)
    libraries.push_back({modules[i].soname, path_text(modules[i].path), {}});
  return libraries;
}

}  // namespace enginehost::load
