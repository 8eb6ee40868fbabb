// The frame of an ELF file: identification, program headers, and conversion of addresses to file offsets.
// Constants have their names of the System V gABI and the glibc <elf.h>.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"
#include "host/binary/formats.hpp"

namespace enginehost::binary {

inline constexpr std::uint16_t EM_X86_64 = 62, EM_AARCH64 = 183;
inline constexpr std::uint32_t PT_LOAD = 1, PT_DYNAMIC = 2, PT_INTERP = 3, PT_TLS = 7,
                               PT_GNU_STACK = 0x6474e551;

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t alignment = 0;
};

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The values of DT_* entries; addresses are unconverted.
struct ElfDynamic {
  std::vector<std::uint64_t> needed;  // string offsets
  std::vector<std::uint64_t> optional;
  std::optional<std::uint64_t> soname, rpath, runpath;
  std::uint64_t string_table = 0, string_size = 0;
  std::optional<std::uint64_t> string_offset;  // of the string table, in the file
  std::uint64_t symbol_table = 0, hash = 0, gnu_hash = 0, version_symbols = 0;
  std::uint64_t version_needs = 0, version_definitions = 0;
  std::uint64_t relocations = 0, relocations_size = 0;          // DT_RELA
  std::uint64_t plt_relocations = 0, plt_relocations_size = 0;  // DT_JMPREL
  std::uint64_t flags = 0, flags_1 = 0;
  bool text_relocations = false, packed_relocations = false;
  bool too_many_needs = false;
  bool terminated = false;
};

struct ElfFile {
  FileView* file = nullptr;
  bool wide = true;  // ELFCLASS64
  bool big_endian = false;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t section_table = 0;
  std::uint16_t section_entry_size = 0, section_count = 0, section_names = 0;
  std::vector<ElfSegment> segments;
  ElfDynamic dynamic;

  bool fields(std::uint64_t offset, std::size_t count, Fields& to) const {
    return file->read_fields(offset, count, big_endian, to);
  }
  const ElfSegment* first(std::uint32_t segment_type) const;
  // Returns the file offset of the byte at this address; nothing for .bss and for addresses outside every
  // PT_LOAD.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  // Returns a string of the dynamic string table.
  std::optional<std::string> string_at(std::uint64_t index) const;
  // Returns the section headers, which a library need not have; empty if there are none or they do not fit
  // the file.
  std::vector<ElfSection> sections() const;
};

// Reads identification and program headers into `elf` and `info`. Returns false, with the reason in
// info.problems, if the file cannot be read further.
bool read_elf_header(FileView& file, ElfFile& elf, BinaryInfo& info);
// Reads PT_DYNAMIC. Returns false if there is none, or, with the reason in info.problems, if it is invalid.
bool read_elf_dynamic(ElfFile& elf, BinaryInfo& info);
// Call it after read_elf_dynamic; always false on machines other than arm64.
bool has_static_tls_relocation(const ElfFile& elf);
// Implements read_binary for an ELF file. `elf` stays filled for further readers.
void read_elf(FileView& file, ElfFile& elf, BinaryInfo& info);

// A version in DT_VERNEED or DT_VERDEF: a chain of libraries, each with a chain of versions, or one of
// definitions (LSB, "Symbol Versioning"). The counts beside the chains are ignored, as in glibc
// (elf/dl-version.c). Names are offsets in the string table.
struct ElfVersion {
  std::uint16_t index = 0, flags = 0;  // the index may have the bit 0x8000: hidden
  std::uint32_t name = 0, library = 0;
};
// Call `visit` for each version. Return false if it does, or if the table cannot be read to its end.
bool for_each_needed_version(const ElfFile& elf, const std::function<bool(const ElfVersion&)>& visit);
bool for_each_defined_version(const ElfFile& elf, const std::function<bool(const ElfVersion&)>& visit);

// Implements read_symbols for an ELF file whose dynamic section has been read. The number of symbols comes
// from the hash tables or the section headers.
Result<SymbolTable> read_elf_symbols(const ElfFile& elf);

// Returns the number of symbols, if a hash table or a section of its own states it exactly.
std::optional<std::uint64_t> symbol_count(const ElfFile& elf);

}  // namespace enginehost::binary
