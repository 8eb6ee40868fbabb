#include <algorithm>

#include "host/binary/formats.hpp"
#include "host/binary/pe_file.hpp"

// Tables are those of Microsoft's "PE Format" page, ".edata" and ".idata".
namespace enginehost::binary {
namespace {

constexpr std::uint32_t ordinal_limit = 65536;  // an ordinal has 16 bits
constexpr std::uint64_t table_limit = 4 * symbol_limit;

struct ExportDirectory {
  std::uint32_t begin = 0, size = 0;
  std::uint32_t ordinal_base = 0;
  std::uint32_t address_count = 0, name_count = 0;
  std::uint32_t addresses = 0, names = 0, ordinals = 0;
};

std::optional<ExportDirectory> export_directory(const PeFile& pe) {
  const PeDirectory directory = pe.directory(PeDirectory::exports);
  Fields entry;
  if (directory.address == 0 || !pe.fields_at(directory.address, 40, entry)) return std::nullopt;
  return ExportDirectory{directory.address, directory.size, entry.u32(16), entry.u32(20),
                         entry.u32(24),     entry.u32(28),  entry.u32(32), entry.u32(36)};
}

// The numbers of a table that is contiguous in the file.
class Table {
 public:
  Table(const PeFile& pe, std::uint64_t address, std::uint64_t count, unsigned width) : width_(width) {
    const std::optional<std::uint64_t> at = pe.offset_of(address);
    if (!at) return;
    // A table beyond the end of the file is read up to the end.
    const std::uint64_t room = *at < pe.file->size() ? (pe.file->size() - *at) / width : 0;
    whole_ = count <= room;
    if (auto bytes = pe.file->bulk(*at, std::min(count, room) * width, table_limit))
      bytes_ = std::move(*bytes);
  }
  bool whole() const { return whole_; }
  std::uint64_t size() const { return bytes_.size() / width_; }
  std::uint32_t operator[](std::uint64_t index) const {
    std::uint32_t value = 0;
    for (unsigned i = width_; i-- > 0;)
      value = (value << 8) | bytes_[static_cast<std::size_t>(index) * width_ + i];
    return value;
  }

 private:
  unsigned width_;
  bool whole_ = false;
  std::vector<std::uint8_t> bytes_;
};

class Exports {
 public:
  Exports(const PeFile& pe, const ExportDirectory& directory, SymbolTable& table, NameBudget& budget)
      : pe_(pe), directory_(directory), table_(table), budget_(budget) {}

  void read() {
    const std::uint32_t count = std::min(directory_.address_count, ordinal_limit);
    const Table addresses(pe_, directory_.addresses, count, 4);
    const Table names(pe_, directory_.names, std::min<std::uint64_t>(directory_.name_count, symbol_limit), 4);
    const Table ordinals(pe_, directory_.ordinals, names.size(), 2);
    if (count != directory_.address_count || (count > 0 && !addresses.whole()) ||
        (directory_.name_count > 0 && (!names.whole() || !ordinals.whole())))
      table_.complete = false;
    std::vector<bool> named(static_cast<std::size_t>(addresses.size()));
    for (std::uint64_t i = 0; i < std::min(names.size(), ordinals.size()); ++i) {
      std::optional<std::string> name = pe_.text_at(names[i]);
      const std::uint32_t index = ordinals[i];
      if (!name || index >= addresses.size()) {
        table_.complete = false;
        continue;
      }
      named[index] = true;
      if (!add(std::move(*name), index, addresses[index])) return;
    }
    for (std::uint32_t index = 0; index < addresses.size(); ++index)
      if (!named[index] && addresses[index] != 0 && !add({}, index, addresses[index])) return;
  }

 private:
  bool add(std::string name, std::uint32_t index, std::uint32_t address) {
    Symbol symbol;
    symbol.name = std::move(name);
    symbol.ordinal = directory_.ordinal_base + index;
    symbol.address = address;
    if (address >= directory_.begin && address - directory_.begin < directory_.size) {
      // An address inside the export directory is the text of a forwarder.
      std::optional<std::string> target = pe_.text_at(address);
      if (target) symbol.forwarder = std::move(*target);
      table_.complete = table_.complete && target;
    } else if (const PeSection* section = pe_.section_of(address)) {
      constexpr std::uint32_t IMAGE_SCN_MEM_EXECUTE = 0x20000000;
      symbol.function = (section->flags & IMAGE_SCN_MEM_EXECUTE) != 0;
    }
    if (!budget_.take(symbol.name.size() + symbol.forwarder.size())) {
      table_.complete = false;
      return false;
    }
    table_.exports.push_back(std::move(symbol));
    return true;
  }

  const PeFile& pe_;
  const ExportDirectory& directory_;
  SymbolTable& table_;
  NameBudget& budget_;
};

// Reads the imports from one library. Returns false if the table cannot be read to its end.
bool read_lookup_table(const PeFile& pe, const PeImportedLibrary& library, SymbolTable& table,
                       NameBudget& budget) {
  const std::uint64_t width = pe.wide ? 8 : 4;
  const std::uint64_t by_ordinal = std::uint64_t{1} << (pe.wide ? 63 : 31);
  for (std::uint64_t i = 0; i < symbol_limit; ++i) {
    Fields entry;
    if (!pe.fields_at(library.lookup_table + i * width, static_cast<std::size_t>(width), entry)) return false;
    std::uint64_t value = entry.word(0, pe.wide);
    if (value == 0) return true;
    Symbol symbol;
    symbol.library = library.name;
    symbol.delayed = library.delayed;
    if ((value & by_ordinal) != 0) {
      symbol.ordinal = static_cast<std::uint32_t>(value & 0xffff);
    } else {
      if (library.absolute) value -= pe.base;
      std::optional<std::string> name = pe.text_at(value + 2);  // after the hint
      if (!name) return false;
      symbol.name = std::move(*name);
    }
    if (!budget.take(symbol.name.size() + symbol.library.size())) return false;
    table.imports.push_back(std::move(symbol));
  }
  return false;
}

}  // namespace

Result<SymbolTable> read_pe_symbols(const PeFile& pe) {
  SymbolTable table;
  NameBudget budget;
  if (const std::optional<ExportDirectory> directory = export_directory(pe))
    Exports(pe, *directory, table, budget).read();
  else if (pe.directory(PeDirectory::exports).address != 0)
    table.complete = false;
  std::vector<PeImportedLibrary> libraries;
  if (!read_imported_libraries(pe, libraries)) table.complete = false;
  for (const PeImportedLibrary& library : libraries)
    if (!read_lookup_table(pe, library, table, budget)) table.complete = false;
  if (!table.complete && table.exports.empty() && table.imports.empty())
    return fail(damaged(*pe.file, "the symbol table cannot be read to its end"));
  return table;
}

}  // namespace enginehost::binary
