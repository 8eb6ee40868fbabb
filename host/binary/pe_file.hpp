// The frame of a PE file: headers, sections, data directories, and conversion of addresses to file offsets.
// Addresses are relative to the image base ("RVA"), as in most of the format.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/binary/file_view.hpp"

namespace enginehost::binary {

struct PeSection {
  std::string name;
  std::uint32_t address = 0;
  std::uint32_t memory_size = 0;
  std::uint32_t file_offset = 0;
  std::uint32_t file_size = 0;
  std::uint32_t flags = 0;
};

struct PeDirectory {
  enum Index : std::uint32_t {
    exports = 0,
    imports = 1,
    resources = 2,
    certificates = 4,
    thread_locals = 9,
    load_configuration = 10,
    bound_imports = 11,
    delayed_imports = 13,
    managed_code = 14,
  };
  std::uint32_t address = 0;  // for certificates: a file offset
  std::uint32_t size = 0;
};

struct PeFile {
  FileView* file = nullptr;
  bool wide = true;  // PE32+
  std::uint16_t machine = 0;
  std::uint64_t base = 0;
  std::uint64_t headers_size = 0;
  std::uint64_t directories = 0;  // file offset
  std::uint32_t directory_count = 0;
  std::vector<PeSection> sections;

  bool fields(std::uint64_t offset, std::size_t count, Fields& to) const {
    return file->read_fields(offset, count, false, to);
  }
  // Returns the file offset of the byte at this address; nothing for what only memory holds.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  // Reads at an address; false if it is not in the file.
  bool fields_at(std::uint64_t address, std::size_t count, Fields& to) const;
  std::optional<std::string> text_at(std::uint64_t address) const;
  PeDirectory directory(PeDirectory::Index index) const;
  const PeSection* section_of(std::uint64_t address) const;
};

// Reads headers and sections into `pe` and `info`. Returns false, with the reason in info.problems, if the
// file cannot be read further.
bool read_pe_header(FileView& file, PeFile& pe, BinaryInfo& info);
// Implements read_symbols for a PE file.
Result<SymbolTable> read_pe_symbols(const PeFile& pe);

}  // namespace enginehost::binary
