#include <elf.h>
#include <link.h>

#include <charconv>
#include <optional>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

// The kernel writes a line feed in a name as \012, and appends a mark to the name of a deleted file.
std::string file_of_line(std::string_view line) {
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return {};
  line.remove_prefix(slash);
  constexpr std::string_view removed = " (deleted)", escaped = "\\012";
  if (line.ends_with(removed)) line.remove_suffix(removed.size());
  std::string file;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool line_end = line.substr(at).starts_with(escaped);
    file += line_end ? '\n' : line[at];
    if (line_end) at += escaped.size() - 1;
  }
  return file;
}

}  // namespace

std::string text_of_tag(const dl_phdr_info& library, std::int64_t tag) {
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    ElfW(Addr) strings = 0;
    std::optional<ElfW(Addr)> at;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
      if (entry->d_tag == tag) at = entry->d_un.d_val;
    }
    if (!at || strings == 0) return {};
    // glibc relocates DT_STRTAB in place except on a few architectures and in the vdso; musl does not.
    if (strings < library.dlpi_addr) strings += library.dlpi_addr;
    return reinterpret_cast<const char*>(strings + *at);
  }
  return {};
}

std::uintptr_t first_address(const dl_phdr_info& library) {
  for (ElfW(Half) i = 0; i < library.dlpi_phnum; ++i)
    if (library.dlpi_phdr[i].p_type == PT_LOAD) return library.dlpi_addr + library.dlpi_phdr[i].p_vaddr;
  return 0;
}

std::string file_mapped_at(std::uintptr_t address) {
  const Result<std::string> maps = read_file("/proc/self/maps");
  if (!maps || address == 0) return {};
  for (const std::string& line : split(*maps, '\n')) {
    std::uintptr_t begin = 0, end = 0;
    const char* const last = line.data() + line.size();
    const auto first = std::from_chars(line.data(), last, begin, 16);
    if (first.ec != std::errc() || first.ptr == last) continue;
    if (std::from_chars(first.ptr + 1, last, end, 16).ec != std::errc()) continue;
    if (address >= begin && address < end) return file_of_line(line);
  }
  return {};
}

}  // namespace enginehost::linker
