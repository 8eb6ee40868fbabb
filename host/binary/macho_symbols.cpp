// The export trie: names with a common beginning share nodes. A node holds the export of its name (if there
// is one) and edges, each with the text that it adds and the offset of the next node. Described in
// <mach-o/loader.h> under dyld_info_command; numbers are ULEB128.
#include <algorithm>
#include <cstring>
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

class ExportTrieWalk {
 public:
  ExportTrieWalk(const std::vector<std::uint8_t>& trie, const std::function<bool(MachoExport)>& visit)
      : trie_(trie), visit_(visit) {}

  bool run() {
    if (trie_.empty()) return true;
    if (!enter(0)) return stopped_;
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
      if (!enter(child)) return stopped_;
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
    if (size > 0) {
      std::optional<MachoExport> found = read_export(cursor);
      if (!found) return false;
      if (!visit_(std::move(*found))) {
        stopped_ = true;
        return false;
      }
    }
    Cursor children(trie_, edges);
    std::uint8_t count = 0;
    if (!children.byte(count)) return false;
    open_.push_back({children.at(), count, name_.size()});
    return true;
  }

  std::optional<MachoExport> read_export(Cursor cursor) const {
    constexpr std::uint64_t kind_mask = 3, thread_local_kind = 1, weak_definition = 4, reexport = 8;
    MachoExport found;
    std::uint64_t flags = 0;
    if (!cursor.number(flags)) return std::nullopt;
    found.name = name_;
    found.weak = (flags & weak_definition) != 0;
    found.thread_local_storage = (flags & kind_mask) == thread_local_kind;
    found.reexported = (flags & reexport) != 0;
    if (!found.reexported)
      return cursor.number(found.address) ? std::optional(std::move(found)) : std::nullopt;
    if (!cursor.number(found.ordinal) || !cursor.text(found.forwarder)) return std::nullopt;
    if (found.forwarder.empty()) found.forwarder = found.name;
    return found;
  }

  const std::vector<std::uint8_t>& trie_;
  const std::function<bool(MachoExport)>& visit_;
  std::vector<Node> open_;
  std::string name_;
  std::uint64_t visited_ = 0;
  bool stopped_ = false;
};

}  // namespace

bool for_each_trie_export(const std::vector<std::uint8_t>& trie,
                          const std::function<bool(MachoExport)>& visit) {
  return ExportTrieWalk(trie, visit).run();
}

bool for_each_macho_export(const MachoFile& macho, const std::function<bool(MachoExport)>& visit) {
  if (macho.export_trie.size > 0) {
    const auto trie = macho.bulk(macho.export_trie, trie_limit);
    return trie && for_each_trie_export(*trie, visit);
  }
  return for_each_macho_symbol(macho, [&](const MachoSymbol& symbol) {
    if (!symbol.exported()) return true;
    MachoExport found;
    found.name = symbol.name;
    found.address = symbol.value - macho.base_address();
    found.weak = (symbol.description & 0x80) != 0;  // N_WEAK_DEF
    return visit(std::move(found));
  });
}

// <mach-o/nlist.h>; chained imports: <mach-o/fixup-chains.h>.

namespace {

constexpr std::uint64_t macho_strings_limit = std::uint64_t{1} << 30;

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

}  // namespace

bool for_each_macho_symbol(const MachoFile& macho, const std::function<bool(const MachoSymbol&)>& visit) {
  const std::uint64_t entry_size = macho.wide ? 16 : 12;
  const std::uint64_t count = std::min(macho.symbols.size, symbol_limit);
  if (count == 0) return true;
  const auto strings = macho.bulk(macho.strings, macho_strings_limit);
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
    if (info.macho.two_level_namespace) symbol.library = library_of(macho, found.description >> 8);
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
