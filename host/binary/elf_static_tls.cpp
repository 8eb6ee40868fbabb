// Whether a library needs its thread-local variables at fixed distances from the thread pointer. Linkers mark
// that with DF_STATIC_TLS, except binutils for arm64, where glibc uses only the relocation
// (sysdeps/aarch64/dl-machine.h, CHECK_STATIC_TLS).
#include <algorithm>

#include "host/binary/elf_file.hpp"
#include "host/binary/static_tls.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint32_t R_X86_64_TPOFF64 = 18, R_AARCH64_TLS_TPREL = 1030;

std::uint32_t number_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte-- > 0;) value = value << 8 | bytes[at + byte];
  return value;
}

// Returns whether a DT_RELA relocation of this type has a symbol that `asked` accepts.
template <class Asked>
bool has_relocation(const ElfFile& elf, std::uint32_t type, const Asked& asked) {
  constexpr std::uint64_t entry_size = 24;  // Elf64_Rela: offset, info (symbol and type), addend
  constexpr std::uint64_t piece = 10'000 * entry_size, limit = 64u << 20;
  const auto at = elf.offset_of(elf.dynamic.relocations);
  const std::uint64_t size = std::min(elf.dynamic.relocations_size, limit);
  if (!at) return false;
  for (std::uint64_t done = 0; done < size; done += piece) {
    const auto entries = elf.file->bulk(*at + done, std::min(piece, size - done), piece);
    if (!entries) return false;
    for (std::size_t i = 0; i + entry_size <= entries->size(); i += entry_size)
      if (number_at(*entries, i + 8) == type && asked(number_at(*entries, i + 12))) return true;
  }
  return false;
}

bool is_wide_little(const ElfFile& elf) {
  return elf.wide && !elf.big_endian && elf.dynamic.relocations != 0;
}

// Symbol 0 is the library's own block; it may also be a symbol that the library exports.
bool is_own(const ElfFile& elf, std::uint32_t symbol) {
  if (symbol == 0) return true;
  constexpr std::uint64_t symbol_size = 24;  // Elf64_Sym
  const auto table = elf.offset_of(elf.dynamic.symbol_table);
  Fields entry;
  return table && elf.fields(*table + symbol * symbol_size, symbol_size, entry) && entry.u16(6) != 0;
}

}  // namespace

bool has_static_tls_relocation(const ElfFile& elf) {
  return elf.machine == EM_AARCH64 && is_wide_little(elf) &&
         has_relocation(elf, R_AARCH64_TLS_TPREL, [](std::uint32_t) { return true; });
}

std::optional<bool> takes_own_static_tls(const std::filesystem::path& path) {
  Result<FileView> file = FileView::open(path);
  if (!file) return std::nullopt;
  BinaryInfo info;
  ElfFile elf;
  info.file_size = file->size();
  if (!read_elf_header(*file, elf, info) || !read_elf_dynamic(elf, info)) return std::nullopt;
  if ((elf.machine != EM_X86_64 && elf.machine != EM_AARCH64) || !elf.wide || elf.big_endian)
    return std::nullopt;
  if (!is_wide_little(elf)) return false;
  const bool own = has_relocation(elf, elf.machine == EM_X86_64 ? R_X86_64_TPOFF64 : R_AARCH64_TLS_TPREL,
                                  [&](std::uint32_t symbol) { return is_own(elf, symbol); });
  if (!own && file->failure()) return std::nullopt;
  return own;
}

}  // namespace enginehost::binary
