// The export trie: names with a common beginning share nodes. A node holds the export of its name (if there
// is one) and edges, each with the text that it adds and the offset of the next node. Described in
// <mach-o/loader.h> under dyld_info_command; numbers are ULEB128.
#include <algorithm>
#include <optional>

#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::size_t trie_name_limit = 32768;
constexpr std::uint64_t trie_limit = 512u << 20;

class Cursor {
 public:
  Cursor(const std::vector<std::uint8_t>& bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

  std::uint64_t at() const { return at_; }
  bool byte(std::uint8_t& value) {
    if (at_ >= bytes_.size()) return false;
    value = bytes_[static_cast<std::size_t>(at_++)];
    return true;
  }
  bool number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t part = 0;
      if (!byte(part)) return false;
      value |= std::uint64_t{part & 0x7fu} << shift;
      if ((part & 0x80) == 0) return true;
    }
    return false;
  }
  // Appends the text up to its zero.
  bool text(std::string& to) {
    std::uint8_t letter = 0;
    while (byte(letter)) {
      if (letter == 0) return true;
      if (to.size() >= trie_name_limit) return false;
      to += static_cast<char>(letter);
    }
    return false;
  }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::uint64_t at_;
};

// Ordinals of libraries count from 1; the others mean the file itself, the program, or any library.
std::string library_of(const MachoFile& macho, std::uint64_t ordinal) {
  return ordinal >= 1 && ordinal <= macho.dylibs.size()
             ? macho.dylibs[static_cast<std::size_t>(ordinal - 1)].name
             : std::string();
}

class ExportTrieWalk {
 public:
  ExportTrieWalk(const MachoFile& macho, const std::vector<std::uint8_t>& trie, SymbolTable& table,
                 NameBudget& budget)
      : macho_(macho), trie_(trie), table_(table), budget_(budget) {}

  // Returns false if the trie cannot be read to its end.
  bool run() {
    if (!enter(0)) return false;
    while (!open_.empty()) {
      Node& node = open_.back();
      if (node.edges_left == 0) {
        open_.pop_back();
        continue;
      }
      --node.edges_left;
      name_.resize(node.name_length);
      Cursor cursor(trie_, node.next_edge);
      std::uint64_t child = 0;
      if (!cursor.text(name_) || !cursor.number(child)) return false;
      node.next_edge = cursor.at();
      if (!enter(child)) return false;
    }
    return true;
  }

 private:
  struct Node {
    std::uint64_t next_edge = 0;
    std::uint8_t edges_left = 0;
    std::size_t name_length = 0;
  };

  bool enter(std::uint64_t at) {
    // A node takes at least two bytes, so more visits mean that a node is reached twice.
    if (++visited_ > trie_.size() / 2 + 1 || open_.size() > trie_name_limit) return false;
    Cursor cursor(trie_, at);
    std::uint64_t size = 0;
    if (at >= trie_.size() || !cursor.number(size) || size > trie_.size() - cursor.at()) return false;
    const std::uint64_t edges = cursor.at() + size;
    if (size > 0 && !read_export(cursor)) return false;
    Cursor children(trie_, edges);
    std::uint8_t count = 0;
    if (!children.byte(count)) return false;
    open_.push_back({children.at(), count, name_.size()});
    return true;
  }

  bool read_export(Cursor cursor) {
    constexpr std::uint64_t kind_mask = 3, thread_local_kind = 1, weak_definition = 4, reexport = 8;
    std::uint64_t flags = 0, ordinal = 0;
    if (!cursor.number(flags)) return false;
    Symbol symbol;
    symbol.name = name_;
    symbol.weak = (flags & weak_definition) != 0;
    symbol.thread_local_storage = (flags & kind_mask) == thread_local_kind;
    if ((flags & reexport) != 0) {
      if (!cursor.number(ordinal) || !cursor.text(symbol.forwarder)) return false;
      symbol.library = library_of(macho_, ordinal);
      if (symbol.forwarder.empty()) symbol.forwarder = symbol.name;
    } else if (!cursor.number(symbol.address)) {
      return false;
    }
    symbol.address += macho_.base_address();
    if (!budget_.take(symbol.name.size() + symbol.forwarder.size() + symbol.library.size())) return false;
    table_.exports.push_back(std::move(symbol));
    return true;
  }

  const MachoFile& macho_;
  const std::vector<std::uint8_t>& trie_;
  SymbolTable& table_;
  NameBudget& budget_;
  std::vector<Node> open_;
  std::string name_;
  std::uint64_t visited_ = 0;
};

// <mach-o/nlist.h>; chained imports: <mach-o/fixup-chains.h>.

constexpr std::uint64_t macho_strings_limit = std::uint64_t{1} << 30;

// Reads LC_DYLD_CHAINED_FIXUPS, which dyld binds by if the file has no symbol table. Returns false if it
// cannot be read.
bool read_chained_imports(const MachoFile& macho, SymbolTable& table, NameBudget& budget) {
  const auto bytes = macho.bulk(macho.chained_fixups, macho_strings_limit);
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

// Reads the symbol table: its imports, and its exports if the file has no trie (older files). Returns false
// if it cannot be read to its end.
bool read_symbol_table(const MachoFile& macho, SymbolTable& table, NameBudget& budget) {
  constexpr unsigned N_STAB = 0xe0, N_PEXT = 0x10, N_TYPE = 0x0e, N_EXT = 0x01;
  constexpr unsigned N_UNDF = 0x0, N_ABS = 0x2, N_INDR = 0xa, N_PBUD = 0xc, N_SECT = 0xe;
  constexpr unsigned N_WEAK_REF = 0x40, N_WEAK_DEF = 0x80;
  const std::uint64_t entry_size = macho.wide ? 16 : 12;
  const std::uint64_t count = std::min(macho.symbols.size, symbol_limit);
  if (count == 0) return true;
  const auto strings = macho.bulk(macho.strings, macho_strings_limit);
  if (!strings) return false;
  bool whole = count == macho.symbols.size;
  for (std::uint64_t i = 0; i < count; ++i) {
    Fields entry;
    if (!macho.fields(macho.symbols.offset + i * entry_size, static_cast<std::size_t>(entry_size), entry))
      return false;
    const unsigned type = entry.u8(4), kind = type & N_TYPE, description = entry.u16(6);
    if ((type & (N_STAB | N_PEXT)) != 0 || (type & N_EXT) == 0) continue;
    Symbol symbol;
    symbol.address = entry.word(8, macho.wide);
    const bool exported = kind == N_ABS || kind == N_SECT || kind == N_INDR;
    const bool imported = (kind == N_UNDF || kind == N_PBUD) && symbol.address == 0;
    if (exported ? macho.export_trie.size > 0 : !imported) continue;
    std::optional<std::string> name = text_in(*strings, entry.u32(0));
    whole = whole && name;
    if (!name) continue;
    symbol.name = std::move(*name);
    symbol.weak = (description & (exported ? N_WEAK_DEF : N_WEAK_REF)) != 0;
    if (imported && macho.two_level_namespace()) symbol.library = library_of(macho, description >> 8);
    if (!budget.take(symbol.name.size() + symbol.library.size())) return false;
    (exported ? table.exports : table.imports).push_back(std::move(symbol));
  }
  return whole;
}

}  // namespace

Result<SymbolTable> read_macho_symbols(const MachoFile& macho) {
  SymbolTable table;
  NameBudget budget;
  if (macho.export_trie.size > 0) {
    const auto trie = macho.bulk(macho.export_trie, trie_limit);
    table.complete = trie && ExportTrieWalk(macho, *trie, table, budget).run();
  }
  if (!read_symbol_table(macho, table, budget)) table.complete = false;
  if (macho.symbols.size == 0 && macho.chained_fixups.size > 0 && !read_chained_imports(macho, table, budget))
    table.complete = false;
  if (!table.complete && table.exports.empty() && table.imports.empty())
    return fail(damaged(*macho.file, "the symbol table cannot be read to its end"));
  return table;
}

}  // namespace enginehost::binary
