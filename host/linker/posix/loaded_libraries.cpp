#include <elf.h>
#include <link.h>

#include <cstring>

#include "host/linker/machine.hpp"

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
  std::vector<LoadedLibrary> found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        // The program itself has an empty name, the vdso one without a folder.
        if (library->dlpi_name != nullptr && library->dlpi_name[0] == '/')
          static_cast<std::vector<LoadedLibrary>*>(data)->push_back(
              {soname_of(*library), library->dlpi_name});
        return 0;
      },
      &found);
  return found;
}

}  // namespace enginehost::linker
