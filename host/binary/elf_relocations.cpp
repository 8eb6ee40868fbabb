// Checks of the tables that a loader trusts when it binds. glibc does not check their indices and addresses
// (elf/dl-reloc.c, sysdeps/x86_64/dl-machine.h), and reads and writes wherever they point.
#include <algorithm>

#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint64_t elf_table_limit = 512u << 20;
constexpr std::uint64_t relocation_size = 24;  // Elf64_Rela: offset, info (symbol and type), addend
// Millions of relocations are read in pieces that fit the processor's cache.
constexpr std::uint64_t piece = 10'000 * relocation_size;

// Returns the highest index of a version definition or need: the length of glibc's table (elf/dl-version.c).
std::uint64_t highest_version(const ElfFile& elf) {
  std::uint64_t highest = 1;
  const auto take = [&](const ElfVersion& version) {
    highest = std::max<std::uint64_t>(highest, version.index & 0x7fffu);
    return true;
  };
  for_each_defined_version(elf, take);
  for_each_needed_version(elf, take);
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
    const auto table = at ? elf_.file->bulk(*at, *symbols_ * 2, elf_table_limit) : std::nullopt;
    if (!table) return "its table of symbol versions lies outside the file";
    const std::uint64_t highest = highest_version(elf_);
    for (std::size_t i = 0; i + 2 <= table->size(); i += 2)
      if ((number_at<std::uint16_t>(&(*table)[i], false) & 0x7fff) > highest)
        return "a symbol has a version that the file does not name";
    return nullptr;
  }

  const char* relocations(std::uint64_t address, std::uint64_t size) {
    if (address == 0 || size == 0) return nullptr;
    constexpr const char* outside = "its relocations lie outside the file";
    const auto at = elf_.offset_of(address);
    if (!at || size > elf_table_limit) return outside;
    for (std::uint64_t done = 0; done < size; done += piece) {
      const auto entries = elf_.file->bulk(*at + done, std::min(piece, size - done), piece);
      if (!entries) return outside;
      if (const char* problem = relocations(*entries)) return problem;
    }
    return nullptr;
  }

  const char* relocations(const std::vector<std::uint8_t>& entries) {
    for (std::size_t i = 0; i + relocation_size <= entries.size(); i += relocation_size) {
      const auto place = number_at<std::uint64_t>(&entries[i], false),
                 info = number_at<std::uint64_t>(&entries[i + 8], false);
      if ((info & 0xffffffff) == 0) continue;  // R_X86_64_NONE, R_AARCH64_NONE
      if (symbols_ && (info >> 32) >= *symbols_ && (info >> 32) != 0)
        return "a relocation refers to a symbol that the file does not list";
      if (!may_be_written(place)) return "a relocation writes outside the file's writable segments";
    }
    return nullptr;
  }

  bool may_be_written(std::uint64_t place) {
    constexpr std::uint32_t PF_W = 2;
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

// Whether a library needs its thread-local variables at fixed distances from the thread pointer. Linkers mark
// that with DF_STATIC_TLS, except binutils for arm64, where glibc uses only the relocation
// (sysdeps/aarch64/dl-machine.h, CHECK_STATIC_TLS).

namespace {

constexpr std::uint32_t R_X86_64_TPOFF64 = 18, R_AARCH64_TLS_TPREL = 1030;

// Returns whether a DT_RELA relocation of this type has a symbol that `asked` accepts.
template <class Asked>
bool has_relocation(const ElfFile& elf, std::uint32_t type, const Asked& asked) {
  constexpr std::uint64_t limit = 64u << 20;
  const auto at = elf.offset_of(elf.dynamic.relocations);
  const std::uint64_t size = std::min(elf.dynamic.relocations_size, limit);
  if (!at) return false;
  for (std::uint64_t done = 0; done < size; done += piece) {
    const auto entries = elf.file->bulk(*at + done, std::min(piece, size - done), piece);
    if (!entries) return false;
    for (std::size_t i = 0; i + relocation_size <= entries->size(); i += relocation_size)
      if (number_at<std::uint32_t>(&(*entries)[i + 8], false) == type &&
          asked(number_at<std::uint32_t>(&(*entries)[i + 12], false)))
        return true;
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
