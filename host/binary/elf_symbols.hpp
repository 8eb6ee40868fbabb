// Iteration over the dynamic symbol table.
#pragma once
#include <functional>

#include "host/binary/elf_file.hpp"
#include "host/binary/symbol_limits.hpp"

namespace enginehost::binary {

struct RawSymbol {
  std::uint32_t name = 0;  // offset in the string table
  std::uint8_t info = 0;   // binding and type
  std::uint8_t other = 0;  // visibility
  std::uint16_t section = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t index = 0;

  bool defined() const { return section != 0; }
  unsigned binding() const { return info >> 4; }
  unsigned type() const { return info & 15u; }
  bool exported() const {
    constexpr unsigned STB_GLOBAL = 1, STB_WEAK = 2, STB_GNU_UNIQUE = 10;
    const unsigned visibility = other & 3u;  // 0 default, 3 protected
    return defined() && (binding() == STB_GLOBAL || binding() == STB_WEAK || binding() == STB_GNU_UNIQUE) &&
           (visibility == 0 || visibility == 3);
  }
};

// Calls `visit` for symbol 1, 2, ... until it returns false. Returns false if the table cannot be read to its
// end. The number of symbols comes from the hash tables or the section headers.
bool for_each_symbol(const ElfFile& elf, const std::function<bool(const RawSymbol&)>& visit);

// Returns the number of symbols, if a hash table or a section of its own states it exactly.
std::optional<std::uint64_t> symbol_count(const ElfFile& elf);

}  // namespace enginehost::binary
