// The frame of a Mach-O file: slices, load commands, and conversion of addresses to file offsets.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

struct MachoSegment {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t file_size = 0;
};

// A table in the slice. For symbols, the size is their number.
struct MachoTable {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The place of a slice in a universal file; for a thin file: the whole file.
struct MachoPlace {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t cpu = 0, subtype = 0;  // for a thin file: from its own header
};

struct MachoFile {
  FileView* file = nullptr;
  MachoPlace place;
  bool wide = true;
  bool big_endian = false;
  std::uint32_t flags = 0;
  std::vector<MachoSegment> segments;
  std::vector<DylibNeed> dylibs;
  MachoTable symbols, strings, export_trie, chained_fixups;

  bool two_level_namespace() const { return (flags & 0x80) != 0; }  // MH_TWOLEVEL

  // Offsets are relative to the slice, like all offsets in its load commands.
  bool fields(std::uint64_t offset, std::size_t count, Fields& to) const {
    return offset <= file->size() && file->read_fields(place.offset + offset, count, big_endian, to);
  }
  std::optional<std::vector<std::uint8_t>> bulk(const MachoTable& table, std::uint64_t limit) const {
    if (table.offset > file->size()) return std::nullopt;
    return file->bulk(place.offset + table.offset, table.size, limit);
  }
  // Returns the slice's address in memory before sliding.
  std::uint64_t base_address() const;
  // Returns the offset within the slice of the byte at this address; nothing for zero-filled memory.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
};

// Returns the slices of a universal file, or the whole thin file as one; empty if the list cannot be read.
std::vector<MachoPlace> macho_places(FileView& file);
// Returns the slice for this machine, else the first one.
const MachoPlace& chosen_place(const std::vector<MachoPlace>& places, std::string_view machine);
std::string macho_machine(std::uint32_t cpu, std::uint32_t subtype);
bool is_universal(FileView& file);

// Reads header and load commands of one slice, or of the slice for a machine. Returns false, with the reason
// in info.problems, if the slice cannot be read further.
bool read_macho_slice(FileView& file, std::string_view machine, MachoFile& macho, BinaryInfo& info);
bool read_macho_slice(FileView& file, const MachoPlace& place, MachoFile& macho, BinaryInfo& info);

// Implements read_symbols for a Mach-O file.
Result<SymbolTable> read_macho_symbols(const MachoFile& macho);

}  // namespace enginehost::binary
