// Whether a library must have its thread-local variables at fixed distances from the thread pointer. Linkers
// say so with DF_STATIC_TLS; that of binutils does not for arm64, where glibc goes by the relocation alone
// (sysdeps/aarch64/dl-machine.h, CHECK_STATIC_TLS).
#include <algorithm>

#include "host/binary/elf_file.hpp"

namespace enginehost::binary {

bool has_static_tls_relocation(const ElfFile& elf) {
  constexpr std::uint16_t EM_AARCH64 = 183;
  constexpr std::uint32_t R_AARCH64_TLS_TPREL = 1030;
  constexpr std::uint64_t entry_size = 24;  // Elf64_Rela: place, type in the low half of info, addend
  constexpr std::uint64_t piece = 10'000 * entry_size, limit = 64u << 20;
  if (elf.machine != EM_AARCH64 || !elf.wide || elf.big_endian || elf.dynamic.relocations == 0) return false;
  const auto at = elf.offset_of(elf.dynamic.relocations);
  const std::uint64_t size = std::min(elf.dynamic.relocations_size, limit);
  if (!at) return false;
  for (std::uint64_t done = 0; done < size; done += piece) {
    const auto entries = elf.file->bulk(*at + done, std::min(piece, size - done), piece);
    if (!entries) return false;
    for (std::size_t i = 0; i + entry_size <= entries->size(); i += entry_size) {
      std::uint32_t type = 0;
      for (std::size_t byte = 4; byte-- > 0;) type = type << 8 | (*entries)[i + 8 + byte];
      if (type == R_AARCH64_TLS_TPREL) return true;
    }
  }
  return false;
}

}  // namespace enginehost::binary
