#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/paths.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
std::vector<LoadedLibrary> loaded_libraries() {
  struct Found {
    std::vector<LoadedLibrary> libraries;
    // Positions of libraries that were opened by a relative path.
    std::vector<std::pair<std::size_t, std::uintptr_t>> relative;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& into = *static_cast<Found*>(data);
        // The program has an empty name, the vdso one without a folder.
        if (library->dlpi_name == nullptr || std::strchr(library->dlpi_name, '/') == nullptr) return 0;
        if (library->dlpi_name[0] != '/')
          into.relative.emplace_back(into.libraries.size(), first_address(*library));
        into.libraries.push_back({text_of_tag(*library, DT_SONAME), library->dlpi_name});
        return 0;
      },
      &found);
  for (const auto& [at, address] : found.relative)
    found.libraries[at].path = path_of(file_mapped_at(address));
  std::erase_if(found.libraries, [](const LoadedLibrary& library) { return library.path.empty(); });
  return std::move(found.libraries);
}

}  // namespace enginehost::linker
