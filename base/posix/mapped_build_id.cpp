#include "base/posix/mapped_build_id.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace enginehost {
namespace {

constexpr std::size_t longest_id = 64;

// A note is a header of three words, its owner's name and its content, the latter two padded to 4 bytes.
std::string build_id_in(const char* notes, std::size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  const auto padded = [](std::size_t length) { return (length + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof header);
    const std::size_t name = at + sizeof header, content = name + padded(header.n_namesz);
    if (content + header.n_descsz > size) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0 && header.n_descsz <= longest_id) {
      char text[2 * longest_id];
      for (std::size_t i = 0; i < header.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[content + i]);
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
      }
      return std::string(text, 2 * header.n_descsz);
    }
    at = content + padded(header.n_descsz);
  }
  return {};
}

}  // namespace

std::string mapped_build_id(const dl_phdr_info& object) {
  std::string id;
  for (int i = 0; i < object.dlpi_phnum && id.empty(); ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      id = build_id_in(reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return id;
}

}  // namespace enginehost
