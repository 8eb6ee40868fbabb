// Checks of the tables that a loader trusts when it binds. glibc does not check their indices and addresses
// (elf/dl-reloc.c, sysdeps/x86_64/dl-machine.h), and reads and writes wherever they point.
#include <algorithm>

#include "host/binary/elf_symbols.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint64_t table_limit = 512u << 20;
constexpr std::uint64_t entry_size = 24;  // Elf64_Rela
// Millions of relocations are read in pieces that fit the processor's cache.
constexpr std::uint64_t piece = 10'000 * entry_size;

std::uint64_t number_at(const std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = (value << 8) | bytes[at + i];
  return value;
}

// Returns the highest index of a version definition or need: the length of glibc's table (elf/dl-version.c).
std::uint64_t highest_version(const ElfFile& elf) {
  constexpr unsigned steps = 65536;
  std::uint64_t highest = 1;
  Fields entry, auxiliary;
  if (const auto at = elf.offset_of(elf.dynamic.version_definitions);
      at && elf.dynamic.version_definitions != 0) {
    std::uint64_t position = *at;
    for (unsigned i = 0; i < steps && elf.fields(position, 20, entry); ++i) {
      highest = std::max<std::uint64_t>(highest, entry.u16(4) & 0x7fffu);
      if (entry.u32(16) == 0) break;
      position += entry.u32(16);
    }
  }
  if (const auto at = elf.offset_of(elf.dynamic.version_needs); at && elf.dynamic.version_needs != 0) {
    std::uint64_t library = *at;
    unsigned total = 0;
    for (unsigned i = 0; i < steps && elf.fields(library, 16, entry); ++i) {
      std::uint64_t position = library + entry.u32(8);
      for (; ++total < steps && elf.fields(position, 16, auxiliary);) {
        highest = std::max<std::uint64_t>(highest, auxiliary.u16(6) & 0x7fffu);
        if (auxiliary.u32(12) == 0) break;
        position += auxiliary.u32(12);
      }
      if (entry.u32(12) == 0) break;
      library += entry.u32(12);
    }
  }
  return highest;
}

class Bindings {
 public:
  explicit Bindings(const ElfFile& elf) : elf_(elf), symbols_(symbol_count(elf)) {}

  // Returns the problem, or nullptr.
  const char* problem() {
    if (const char* problem = versions()) return problem;
    for (const auto& [address, size] :
         {std::pair(elf_.dynamic.relocations, elf_.dynamic.relocations_size),
          std::pair(elf_.dynamic.plt_relocations, elf_.dynamic.plt_relocations_size)})
      if (const char* problem = relocations(address, size)) return problem;
    return nullptr;
  }

 private:
  const char* versions() const {
    if (elf_.dynamic.version_symbols == 0 || !symbols_) return nullptr;
    if (elf_.dynamic.version_needs == 0 && elf_.dynamic.version_definitions == 0) return nullptr;
    const auto at = elf_.offset_of(elf_.dynamic.version_symbols);
    const auto table = at ? elf_.file->bulk(*at, *symbols_ * 2, table_limit) : std::nullopt;
    if (!table) return "its table of symbol versions lies outside the file";
    const std::uint64_t highest = highest_version(elf_);
    for (std::size_t i = 0; i + 2 <= table->size(); i += 2)
      if ((number_at(*table, i, 2) & 0x7fff) > highest)
        return "a symbol has a version that the file does not name";
    return nullptr;
  }

  const char* relocations(std::uint64_t address, std::uint64_t size) {
    if (address == 0 || size == 0) return nullptr;
    constexpr const char* outside = "its relocations lie outside the file";
    const auto at = elf_.offset_of(address);
    if (!at || size > table_limit) return outside;
    for (std::uint64_t done = 0; done < size; done += piece) {
      const auto entries = elf_.file->bulk(*at + done, std::min(piece, size - done), piece);
      if (!entries) return outside;
      if (const char* problem = relocations(*entries)) return problem;
    }
    return nullptr;
  }

  const char* relocations(const std::vector<std::uint8_t>& entries) {
    for (std::size_t i = 0; i + entry_size <= entries.size(); i += entry_size) {
      const std::uint64_t place = number_at(entries, i, 8), info = number_at(entries, i + 8, 8);
      if ((info & 0xffffffff) == 0) continue;  // R_X86_64_NONE, R_AARCH64_NONE
      if (symbols_ && (info >> 32) >= *symbols_ && (info >> 32) != 0)
        return "a relocation refers to a symbol that the file does not list";
      if (!may_be_written(place)) return "a relocation writes outside the file's writable segments";
    }
    return nullptr;
  }

  bool may_be_written(std::uint64_t place) {
    constexpr std::uint32_t PT_LOAD = 1, PF_W = 2;
    if (place >= begin_ && place < end_) return true;
    for (const ElfSegment& segment : elf_.segments) {
      if (segment.type != PT_LOAD || (!elf_.dynamic.text_relocations && (segment.flags & PF_W) == 0))
        continue;
      if (place < segment.address || place - segment.address >= segment.memory_size) continue;
      begin_ = segment.address;
      end_ = segment.address + segment.memory_size;
      return true;
    }
    return false;
  }

  const ElfFile& elf_;
  std::optional<std::uint64_t> symbols_;
  std::uint64_t begin_ = 0, end_ = 0;  // the segment of the last relocation
};

Result<void> check(FileView& file) {
  BinaryInfo info;
  ElfFile elf;
  info.file_size = file.size();
  if (!read_elf_header(file, elf, info) || !read_elf_dynamic(elf, info)) return {};
  // Other processors have other tables (DT_REL, the index of MIPS).
  const bool known = elf.wide && !elf.big_endian && (elf.machine == EM_X86_64 || elf.machine == EM_AARCH64);
  if (!info.problems.empty() || !known) return {};
  if (const char* problem = Bindings(elf).problem()) return fail(damaged(file, problem));
  return {};
}

}  // namespace

Result<void> check_bindings(const std::filesystem::path& path) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  return unless_failed(file, check(file));
}

}  // namespace enginehost::binary
