#include "host/binary/elf_file.hpp"

#include <algorithm>
#include <cstring>
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

bool for_each_symbol(const ElfFile& elf, const std::function<bool(const RawSymbol&)>& visit) {
  if (elf.dynamic.symbol_table == 0) return true;
  std::optional<std::uint64_t> table = elf.offset_of(elf.dynamic.symbol_table);
  if (!table) return false;
  const std::uint64_t entry_size = elf.wide ? 24 : 16;
  std::optional<std::uint64_t> count = symbol_count(elf);
  if (!count) count = count_by_order(elf, entry_size);
  if (!count) return false;
  const std::uint64_t end = std::min(*count, symbol_limit);
  for (std::uint64_t i = 1; i < end; ++i) {
    Fields entry;
    if (!elf.fields(*table + i * entry_size, entry_size, entry)) return false;
    RawSymbol symbol;
    symbol.index = i;
    symbol.name = entry.u32(0);
    symbol.info = entry.u8(elf.wide ? 4 : 12);
    symbol.other = entry.u8(elf.wide ? 5 : 13);
    symbol.section = entry.u16(elf.wide ? 6 : 14);
    symbol.address = entry.word(elf.wide ? 8 : 4, elf.wide);
    symbol.size = entry.word(elf.wide ? 16 : 8, elf.wide);
    if (!visit(symbol)) return true;
  }
  return *count <= symbol_limit;
}

Result<SymbolTable> read_elf_symbols(FileView& file) {
  BinaryInfo info;
  ElfFile elf;
  info.file_size = file.size();
  if (!read_elf_header(file, elf, info) || !read_elf_dynamic(elf, info)) {
    if (!info.problems.empty()) return fail(info.problems.front());
    return fail(damaged(file, "it has no dynamic section"));
  }
  // Names are scattered over the string table, so it is read whole.
  std::optional<std::uint64_t> strings_at = elf.offset_of(elf.dynamic.string_table);
  if (!strings_at) return fail(damaged(file, "the string table lies outside the file"));
  auto strings = file.bulk(*strings_at, elf.dynamic.string_size, string_table_limit);
  if (!strings) return fail(damaged(file, "the string table lies outside the file"));
  auto name_at = [&](std::uint32_t index) -> std::optional<std::string> {
    if (index >= strings->size()) return std::nullopt;
    const std::uint8_t* from = strings->data() + index;
    const void* end = std::memchr(from, 0, strings->size() - index);
    if (end == nullptr) return std::nullopt;
    return std::string(from, static_cast<const std::uint8_t*>(end));
  };
  const auto versions = version_names(elf);
  std::optional<std::uint64_t> version_symbols;
  if (elf.dynamic.version_symbols != 0) version_symbols = elf.offset_of(elf.dynamic.version_symbols);

  SymbolTable table;
  bool names_fit = true;
  NameBudget budget;
  bool followed = for_each_symbol(elf, [&](const RawSymbol& raw) {
    constexpr unsigned STB_LOCAL = 0, STB_WEAK = 2, STT_OBJECT = 1, STT_FUNC = 2, STT_COMMON = 5, STT_TLS = 6,
                       STT_GNU_IFUNC = 10;
    if (raw.binding() == STB_LOCAL) return true;
    std::optional<std::string> name = name_at(raw.name);
    if (!name) {
      names_fit = false;
      return true;
    }
    if (name->empty() || (raw.defined() && !raw.exported())) return true;
    Symbol symbol;
    symbol.name = std::move(*name);
    symbol.defined = raw.defined();
    symbol.weak = raw.binding() == STB_WEAK;
    symbol.function = raw.type() == STT_FUNC || raw.type() == STT_GNU_IFUNC;
    symbol.thread_local_storage = raw.type() == STT_TLS;
    symbol.variable = raw.type() == STT_OBJECT || raw.type() == STT_COMMON || raw.type() == STT_TLS;
    Fields word;
    if (version_symbols && elf.fields(*version_symbols + raw.index * 2, 2, word)) {
      const std::uint16_t index = word.u16(0) & 0x7fff;
      symbol.hidden_version = (word.u16(0) & 0x8000) != 0;
      if (raw.defined() && index == 0) return true;  // VER_NDX_LOCAL
      auto known = index >= 2 ? versions.find(index) : versions.end();
      if (known != versions.end()) {
        symbol.version = known->second.version;
        symbol.library = known->second.library;
      }
    }
    if (!budget.take(symbol.name.size() + symbol.version.size() + symbol.library.size())) return false;
    (raw.defined() ? table.exports : table.imports).push_back(std::move(symbol));
    return true;
  });
  if (!followed && table.exports.empty() && table.imports.empty())
    return fail(damaged(file, "the symbol table cannot be read to its end"));
  table.complete = followed && names_fit && !budget.spent();
  return table;
}

}  // namespace enginehost::binary
