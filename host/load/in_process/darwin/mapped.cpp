#include <dlfcn.h>
#include <mach-o/dyld.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/load/in_process/loader_call.hpp"

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

// dyld gives one handle for each image: the image whose name opens with this handle is the library.
std::string file_of_handle(void* handle) {
  for (std::uint32_t i = ::_dyld_image_count(); i-- > 0;) {
    const char* name = ::_dyld_get_image_name(i);
    void* same = name != nullptr ? ::dlopen(name, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
    if (same == nullptr) continue;
    ::dlclose(same);
    if (same != handle) continue;
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(name, error);
    return error ? std::string(name) : real.native();
  }
  return {};
}

}  // namespace enginehost::load
