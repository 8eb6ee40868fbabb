#include <mach-o/dyld.h>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {

// dyld counts the images that are loaded, not all that ever were. The addresses therefore count too: they
// show an image that replaced another.
std::uint64_t loaded_so_far() {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (std::uint32_t i = 0; i < ::_dyld_image_count(); ++i) {
    digest ^= reinterpret_cast<std::uintptr_t>(::_dyld_get_image_header(i));
    digest *= 0x100000001b3u;
  }
  return digest;
}

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
