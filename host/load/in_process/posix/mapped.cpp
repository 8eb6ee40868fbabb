#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "base/paths.hpp"
#include "host/linker/this_linux.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/load/in_process/loader_call.hpp"

namespace enginehost::load {

std::vector<std::filesystem::path> folders_of_environment() {
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : linker::library_path_folders_at_start())
    folders.push_back(path_of(folder));
  return folders;
}

std::vector<Library> mapped_libraries() {
  std::vector<Library> libraries;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        std::string path = object->dlpi_name != nullptr ? object->dlpi_name : "";
        // The program itself has an empty name; the object that the kernel adds has a name that is no path.
        if (path.find('/') == std::string::npos) return 0;
        // A relative name comes from a relative folder of LD_LIBRARY_PATH, and the current folder may have
        // changed since.
        if (path.front() != '/')
          if (std::string mapped = linker::file_mapped_at(linker::first_address(*object)); !mapped.empty())
            path = std::move(mapped);
        static_cast<std::vector<Library>*>(into)->push_back(
            {linker::text_of_tag(*object, DT_SONAME), std::move(path), {}});
        return 0;
      },
      &libraries);
  return libraries;
}

std::string file_of_handle(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(map->l_name, error);
  return error ? std::string(map->l_name) : real.native();
}

}  // namespace enginehost::load
