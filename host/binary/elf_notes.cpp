#include <algorithm>

#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

enum : std::uint32_t { PT_NOTE = 4, PT_GNU_PROPERTY = 0x6474e553 };
enum : std::uint32_t { NT_GNU_BUILD_ID = 3, NT_GNU_PROPERTY_TYPE_0 = 5 };
constexpr std::uint32_t GNU_PROPERTY_X86_ISA_1_NEEDED = 0xc0008002;
constexpr std::uint64_t note_limit = 65536;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

void read_build_id(const ElfFile& elf, std::uint64_t at, std::uint32_t size, BinaryInfo& info) {
  constexpr char digits[] = "0123456789abcdef";
  std::uint8_t bytes[64];
  if (size > sizeof bytes || !elf.file->read(at, bytes, size)) return;
  info.build_id.resize(std::size_t{size} * 2);
  for (std::uint32_t i = 0; i < size; ++i) {
    info.build_id[std::size_t{i} * 2] = digits[bytes[i] >> 4];
    info.build_id[std::size_t{i} * 2 + 1] = digits[bytes[i] & 15];
  }
}

void read_properties(const ElfFile& elf, std::uint64_t at, std::uint32_t size, BinaryInfo& info) {
  const std::uint64_t end = at + size;
  while (at + 12 <= end) {
    Fields property;
    if (!elf.fields(at, 12, property)) return;
    std::uint32_t length = property.u32(4);
    if (property.u32(0) == GNU_PROPERTY_X86_ISA_1_NEEDED && length >= 4) info.isa_needed = property.u32(8);
    at += 8 + rounded_up(length, elf.wide ? 8 : 4);
  }
}

}  // namespace

void read_elf_notes(const ElfFile& elf, BinaryInfo& info) {
  std::uint64_t notes_read = 0;
  for (const ElfSegment& segment : elf.segments) {
    if (segment.type != PT_NOTE && segment.type != PT_GNU_PROPERTY) continue;
    if (segment.offset > elf.file->size()) continue;
    const std::uint64_t step = segment.alignment == 8 ? 8 : 4;
    std::uint64_t at = segment.offset;
    const std::uint64_t end = at + std::min(segment.file_size, note_limit);
    while (at + 12 <= end && ++notes_read < note_limit) {
      Fields note;
      if (!elf.fields(at, 16, note) && !elf.fields(at, 12, note)) break;
      const std::uint32_t name_size = note.u32(0), size = note.u32(4);
      const std::uint64_t content = at + rounded_up(12 + std::uint64_t{name_size}, step);
      if (content + size > end) break;
      const bool gnu = name_size == 4 && (note.u8(12) == 'G' && note.u8(13) == 'N' && note.u8(14) == 'U');
      if (gnu && note.u32(8) == NT_GNU_BUILD_ID) read_build_id(elf, content, size, info);
      if (gnu && note.u32(8) == NT_GNU_PROPERTY_TYPE_0) read_properties(elf, content, size, info);
      at = content + rounded_up(size, step);
    }
  }
}

}  // namespace enginehost::binary
