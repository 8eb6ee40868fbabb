#include <algorithm>
#include <cstring>

#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"
#include "host/binary/symbol_limits.hpp"

// <mach-o/nlist.h>; chained imports: <mach-o/fixup-chains.h>.
namespace enginehost::binary {
namespace {

constexpr std::uint64_t string_table_limit = std::uint64_t{1} << 30;

std::optional<std::string> text_in(const std::vector<std::uint8_t>& bytes, std::uint64_t at) {
  if (at >= bytes.size()) return std::nullopt;
  const std::uint8_t* from = bytes.data() + at;
  const void* end = std::memchr(from, 0, bytes.size() - static_cast<std::size_t>(at));
  if (end == nullptr) return std::nullopt;
  return std::string(from, static_cast<const std::uint8_t*>(end));
}

// Ordinals of libraries count from 1; the others mean the file itself, the program, or any library.
std::string library_of(const MachoFile& macho, std::uint64_t ordinal) {
  return ordinal >= 1 && ordinal <= macho.dylibs.size()
             ? macho.dylibs[static_cast<std::size_t>(ordinal - 1)].name
             : std::string();
}

// Reads LC_DYLD_CHAINED_FIXUPS, which dyld binds by if the file has no symbol table. Returns false if it
// cannot be read.
bool read_chained_imports(const MachoFile& macho, SymbolTable& table, NameBudget& budget) {
  const auto bytes = macho.bulk(macho.chained_fixups, string_table_limit);
  if (!bytes) return false;
  auto u32 = [&](std::uint64_t at) -> std::uint32_t {
    std::uint32_t value = 0;
    if (at + 4 <= bytes->size())
      for (unsigned i = 4; i-- > 0;) value = (value << 8) | (*bytes)[static_cast<std::size_t>(at) + i];
    return value;
  };
  const std::uint64_t imports = u32(8), names = u32(12), count = u32(16), format = u32(20);
  if (u32(24) != 0 || format < 1 || format > 3) return count == 0;  // no linker compresses names
  const std::uint64_t entry_size = format == 1 ? 4 : format == 2 ? 8 : 16;
  if (count > symbol_limit || imports > bytes->size() || count * entry_size > bytes->size() - imports)
    return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = imports + i * entry_size;
    const std::uint32_t entry = u32(at);
    const std::uint64_t place = format == 3 ? u32(at + 4) : entry >> 9;
    std::optional<std::string> name = text_in(*bytes, names + place);
    if (!name || !budget.take(name->size())) return false;
    Symbol symbol;
    symbol.name = std::move(*name);
    symbol.library = library_of(macho, format == 3 ? entry & 0xffff : entry & 0xff);
    symbol.weak = ((entry >> (format == 3 ? 16 : 8)) & 1) != 0;
    table.imports.push_back(std::move(symbol));
  }
  return true;
}

}  // namespace

bool for_each_macho_symbol(const MachoFile& macho, const std::function<bool(const MachoSymbol&)>& visit) {
  const std::uint64_t entry_size = macho.wide ? 16 : 12;
  const std::uint64_t count = std::min(macho.symbols.size, symbol_limit);
  if (count == 0) return true;
  const auto strings = macho.bulk(macho.strings, string_table_limit);
  if (!strings) return false;
  bool names_fit = true;
  for (std::uint64_t i = 0; i < count; ++i) {
    Fields entry;
    if (!macho.fields(macho.symbols.offset + i * entry_size, static_cast<std::size_t>(entry_size), entry))
      return false;
    MachoSymbol symbol{{}, entry.u8(4), entry.u16(6), entry.word(8, macho.wide)};
    if (!symbol.exported() && !symbol.imported()) continue;
    std::optional<std::string> name = text_in(*strings, entry.u32(0));
    if (!name) {
      names_fit = false;
      continue;
    }
    symbol.name = std::move(*name);
    if (!visit(symbol)) return true;
  }
  return names_fit && count == macho.symbols.size;
}

Result<SymbolTable> read_macho_symbols(FileView& file, std::string_view machine) {
  const std::vector<MachoPlace> places = macho_places(file);
  BinaryInfo info;
  MachoFile macho;
  if (places.empty()) return fail(damaged(file, "the universal header cannot be read"));
  if (!read_macho_slice(file, chosen_place(places, machine), macho, info)) return fail(info.problems.front());

  SymbolTable table;
  NameBudget budget;
  table.complete = for_each_macho_export(macho, [&](MachoExport found) {
    Symbol symbol;
    symbol.name = std::move(found.name);
    symbol.defined = true;
    symbol.weak = found.weak;
    symbol.thread_local_storage = found.thread_local_storage;
    symbol.forwarder = std::move(found.forwarder);
    if (found.reexported) symbol.library = library_of(macho, found.ordinal);
    const bool affordable = budget.take(symbol.name.size() + symbol.forwarder.size() + symbol.library.size());
    if (affordable) table.exports.push_back(std::move(symbol));
    return affordable;
  });
  const bool imports = for_each_macho_symbol(macho, [&](const MachoSymbol& found) {
    if (!found.imported()) return true;
    Symbol symbol;
    symbol.name = found.name;
    symbol.weak = (found.description & 0x40) != 0;  // N_WEAK_REF
    if (info.macho->two_level_namespace) symbol.library = library_of(macho, found.description >> 8);
    const bool affordable = budget.take(symbol.name.size() + symbol.library.size());
    if (affordable) table.imports.push_back(std::move(symbol));
    return affordable;
  });
  table.complete = table.complete && imports;
  if (macho.symbols.size == 0 && macho.chained_fixups.size > 0 && !read_chained_imports(macho, table, budget))
    table.complete = false;
  if (budget.spent()) table.complete = false;
  if (!table.complete && table.exports.empty() && table.imports.empty())
    return fail(damaged(file, "the symbol table cannot be read to its end"));
  return table;
}

}  // namespace enginehost::binary
