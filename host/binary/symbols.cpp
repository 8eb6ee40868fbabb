#include "host/binary/elf_file.hpp"
#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {

Result<SymbolTable> read_symbols(const std::filesystem::path& path, std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  Fields magic;
  file.read_fields(0, 4, true, magic);
  if (magic.u16(0) == 0x4d5a) return unless_failed(file, read_pe_symbols(file));  // "MZ"
  if (is_macho(file)) return unless_failed(file, read_macho_symbols(file, machine));
  return unless_failed(file, read_elf_symbols(file));
}

}  // namespace enginehost::binary
