#include "host/binary/elf_file.hpp"

#include <algorithm>
#include <unordered_map>

namespace enginehost::binary {
namespace {

constexpr std::uint64_t string_table_limit = 512u << 20;

// DT_HASH: nbucket, nchain; nchain is the number of symbols.
std::optional<std::uint64_t> count_by_hash(const ElfFile& elf) {
  if (elf.dynamic.hash == 0 || elf.machine == 22) return std::nullopt;  // s390x has 64-bit words there
  std::optional<std::uint64_t> at = elf.offset_of(elf.dynamic.hash);
  Fields head;
  if (!at || !elf.fields(*at, 8, head)) return std::nullopt;
  return head.u32(4);
}

// DT_GNU_HASH: the symbol of the highest bucket, continued to the end of its chain.
std::optional<std::uint64_t> count_by_gnu_hash(const ElfFile& elf) {
  if (elf.dynamic.gnu_hash == 0) return std::nullopt;
  std::optional<std::uint64_t> at = elf.offset_of(elf.dynamic.gnu_hash);
  Fields head;
  if (!at || !elf.fields(*at, 16, head)) return std::nullopt;
  const std::uint64_t buckets = head.u32(0), first_symbol = head.u32(4), bloom_words = head.u32(8);
  const std::uint64_t bucket_table = *at + 16 + bloom_words * (elf.wide ? 8 : 4);
  const std::uint64_t chains = bucket_table + buckets * 4;
  if (buckets > symbol_limit || chains > elf.file->size()) return std::nullopt;
  std::uint64_t highest = 0;
  Fields entry;
  for (std::uint64_t i = 0; i < buckets; ++i) {
    if (!elf.fields(bucket_table + i * 4, 4, entry)) return std::nullopt;
    highest = std::max<std::uint64_t>(highest, entry.u32(0));
  }
  if (highest < first_symbol) return std::nullopt;  // nothing is exported, so the table has no count
  for (std::uint64_t index = highest; index < symbol_limit; ++index) {
    if (!elf.fields(chains + (index - first_symbol) * 4, 4, entry)) return std::nullopt;
    if ((entry.u32(0) & 1) != 0) return index + 1;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> count_by_sections(const ElfFile& elf, std::uint64_t entry_size) {
  constexpr std::uint32_t SHT_DYNSYM = 11;
  for (const ElfSection& section : elf.sections())
    if (section.type == SHT_DYNSYM && section.address == elf.dynamic.symbol_table)
      return section.size / entry_size;
  return std::nullopt;
}

// Without section headers: linkers place the string table directly after the symbols.
std::optional<std::uint64_t> count_by_order(const ElfFile& elf, std::uint64_t entry_size) {
  if (elf.dynamic.string_table > elf.dynamic.symbol_table)
    return (elf.dynamic.string_table - elf.dynamic.symbol_table) / entry_size;
  return std::nullopt;
}

struct VersionName {
  std::string version;
  std::string library;
};

// Returns the version names by index. Damage, which elf_dynamic.cpp has reported, ends the list.
std::unordered_map<std::uint16_t, VersionName> version_names(const ElfFile& elf) {
  std::unordered_map<std::uint16_t, VersionName> names;
  NameBudget budget(file_name_limit);
  const auto keep = [&](const ElfVersion& one, const std::string& library) {
    std::string text = elf.string_at(one.name).value_or("");
    if (!budget.take(text.size() + library.size())) return false;
    names[one.index] = {std::move(text), library};
    return true;
  };
  for_each_defined_version(elf, [&](const ElfVersion& one) { return keep(one, {}); });
  for_each_needed_version(
      elf, [&](const ElfVersion& one) { return keep(one, elf.string_at(one.library).value_or("")); });
  return names;
}

}  // namespace

std::optional<std::uint64_t> symbol_count(const ElfFile& elf) {
  std::optional<std::uint64_t> count = count_by_hash(elf);
  if (!count) count = count_by_gnu_hash(elf);
  if (!count) count = count_by_sections(elf, elf.wide ? 24 : 16);
  return count;
}

Result<SymbolTable> read_elf_symbols(const ElfFile& elf) {
  FileView& file = *elf.file;
  const ElfDynamic& dynamic = elf.dynamic;
  // Names are scattered over the string table, so it is read whole.
  const auto strings_at = elf.offset_of(dynamic.string_table);
  const auto strings =
      strings_at ? file.bulk(*strings_at, dynamic.string_size, string_table_limit) : std::nullopt;
  if (!strings) return fail(damaged(file, "the string table lies outside the file"));
  const auto versions = version_names(elf);
  std::optional<std::uint64_t> symbols_at, version_symbols;
  if (dynamic.symbol_table != 0) symbols_at = elf.offset_of(dynamic.symbol_table);
  if (dynamic.version_symbols != 0) version_symbols = elf.offset_of(dynamic.version_symbols);
  const std::uint64_t entry_size = elf.wide ? 24 : 16;
  std::optional<std::uint64_t> count = symbol_count(elf);
  if (!count) count = count_by_order(elf, entry_size);

  SymbolTable table;
  NameBudget budget;
  bool followed = dynamic.symbol_table == 0 || (symbols_at && count && *count <= symbol_limit);
  const std::uint64_t end = symbols_at && count ? std::min(*count, symbol_limit) : 0;
  for (std::uint64_t i = 1; i < end && !budget.spent(); ++i) {
    constexpr unsigned STB_LOCAL = 0, STB_GLOBAL = 1, STB_WEAK = 2, STB_GNU_UNIQUE = 10;
    constexpr unsigned STT_OBJECT = 1, STT_FUNC = 2, STT_COMMON = 5, STT_TLS = 6, STT_GNU_IFUNC = 10;
    Fields entry, word;
    if (!elf.fields(*symbols_at + i * entry_size, entry_size, entry)) {
      followed = false;
      break;
    }
    const unsigned info = entry.u8(elf.wide ? 4 : 12), binding = info >> 4, type = info & 15;
    const unsigned visibility = entry.u8(elf.wide ? 5 : 13) & 3u;  // 0 default, 3 protected
    const bool defined = entry.u16(elf.wide ? 6 : 14) != 0;
    if (binding == STB_LOCAL) continue;
    std::optional<std::string> name = text_in(*strings, entry.u32(0));
    if (!name) table.complete = false;
    const bool exported = (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
                          (visibility == 0 || visibility == 3);
    if (!name || name->empty() || (defined && !exported)) continue;
    Symbol symbol;
    symbol.name = std::move(*name);
    symbol.weak = binding == STB_WEAK;
    symbol.unique = binding == STB_GNU_UNIQUE;
    symbol.function = type == STT_FUNC || type == STT_GNU_IFUNC;
    symbol.thread_local_storage = type == STT_TLS;
    symbol.variable = type == STT_OBJECT || type == STT_COMMON || type == STT_TLS;
    symbol.address = entry.word(elf.wide ? 8 : 4, elf.wide);
    symbol.size = entry.word(elf.wide ? 16 : 8, elf.wide);
    if (version_symbols && elf.fields(*version_symbols + i * 2, 2, word)) {
      const std::uint16_t index = word.u16(0) & 0x7fff;
      symbol.hidden_version = (word.u16(0) & 0x8000) != 0;
      if (defined && index == 0) continue;  // VER_NDX_LOCAL
      if (const auto known = versions.find(index); index >= 2 && known != versions.end()) {
        symbol.version = known->second.version;
        symbol.library = known->second.library;
      }
    }
    if (budget.take(symbol.name.size() + symbol.version.size() + symbol.library.size()))
      (defined ? table.exports : table.imports).push_back(std::move(symbol));
  }
  if (!followed && table.exports.empty() && table.imports.empty())
    return fail(damaged(file, "the symbol table cannot be read to its end"));
  table.complete = table.complete && followed && !budget.spent();
  return table;
}

}  // namespace enginehost::binary
