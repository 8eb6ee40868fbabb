#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/paths.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

// The SONAME from the mapped dynamic section. This process's own loader has checked and mapped it, so that
// following its addresses is safe here, unlike everywhere else in this room.
std::string soname_of(const dl_phdr_info& library) {
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + segment.p_vaddr);
    ElfW(Addr) strings = 0;
    ElfW(Xword) soname = 0;
    bool named = false;
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SONAME) {
        soname = entry->d_un.d_val;
        named = true;
      }
    }
    if (!named || strings == 0) return {};
    // glibc relocates DT_STRTAB in place except on a few architectures and in the vdso; musl does not.
    if (strings < library.dlpi_addr) strings += library.dlpi_addr;
    return reinterpret_cast<const char*>(strings + soname);
  }
  return {};
}

}  // namespace

std::vector<LoadedLibrary> loaded_libraries() {
  struct Found {
    std::vector<LoadedLibrary> libraries;
    // By place in the list: those that were opened by a path from the folder that was the current one then.
    std::vector<std::pair<std::size_t, std::uintptr_t>> relative;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& into = *static_cast<Found*>(data);
        // The program itself has an empty name, the vdso one without a folder.
        if (library->dlpi_name == nullptr || std::strchr(library->dlpi_name, '/') == nullptr) return 0;
        if (library->dlpi_name[0] != '/')
          into.relative.emplace_back(into.libraries.size(), first_address(*library));
        into.libraries.push_back({soname_of(*library), library->dlpi_name});
        return 0;
      },
      &found);
  for (const auto& [at, address] : found.relative)
    found.libraries[at].path = path_of(file_mapped_at(address));
  std::erase_if(found.libraries, [](const LoadedLibrary& library) { return library.path.empty(); });
  return std::move(found.libraries);
}

}  // namespace enginehost::linker
