#include <algorithm>
#include <array>
#include <limits>

#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint16_t segment_limit = 4096;
constexpr std::uint16_t section_limit = 65279;  // SHN_LORESERVE - 1
constexpr std::uint64_t smallest_page = 4096;

enum : std::uint16_t { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, ET_CORE = 4 };

Diagnosis foreign(const FileView& file, std::string_view problem, std::string_view what,
                  std::string_view value) {
  return std::move(
      diagnose("EH-L07").with("file", file.path()).with("problem", problem).with(what, value, "e_ident"));
}

Diagnosis truncated(const BinaryInfo& info, const FileView& file, std::string_view source) {
  return std::move(diagnose("EH-F04")
                       .with("file", file.path())
                       .with("size", std::to_string(info.file_size))
                       .with("needed_size", std::to_string(info.needed_size), source));
}

// Makes the checks of ld.so's open_verify (glibc elf/dl-load.c) on e_ident and e_version, beyond magic and
// class.
void check_identification(const Fields& head, const FileView& file, BinaryInfo& info) {
  std::uint8_t os_abi = head.u8(7);
  info.os_abi = os_abi_name(os_abi);
  info.abi_version = head.u8(8);
  if (head.u8(6) != 1)
    info.problems.push_back(foreign(file, "unknown ELF version", "version", std::to_string(head.u8(6))));
  if (os_abi != 0 && os_abi != 3)
    info.problems.push_back(foreign(file, "foreign OS ABI", "os_abi", info.os_abi));
  if (head.u32(20) != 1)
    info.problems.push_back(foreign(file, "unknown ELF version", "version", std::to_string(head.u32(20))));
  constexpr std::size_t padding = 9, identification = 16;
  for (std::size_t at = padding; at < identification; ++at)
    if (head.u8(at) != 0) {
      info.problems.push_back(damaged(file, "reserved bytes of its identification are not zero"));
      return;
    }
}

bool read_segments(FileView& file, ElfFile& elf, BinaryInfo& info, std::uint64_t table,
                   std::uint16_t entry_size, std::uint16_t count) {
  const std::uint16_t expected = elf.wide ? 56 : 32;
  if (count == 0) return true;
  if (entry_size != expected) {
    info.problems.push_back(damaged(file, "the program headers have an unknown size"));
    return false;
  }
  if (count > segment_limit) {
    info.problems.push_back(damaged(file, "it claims " + std::to_string(count) + " program headers"));
    return false;
  }
  std::uint64_t length = std::uint64_t{count} * entry_size;
  if (table > std::numeric_limits<std::uint64_t>::max() - length) {
    info.problems.push_back(damaged(file, "the offset of the program headers is impossible"));
    return false;
  }
  if (table + length > file.size()) {
    info.needed_size = table + length;
    info.problems.push_back(truncated(info, file, "program header table"));
    return false;
  }
  elf.segments.reserve(count);
  for (std::uint16_t i = 0; i < count; ++i) {
    Fields entry;
    if (!elf.fields(table + std::uint64_t{i} * entry_size, expected, entry)) {
      info.problems.push_back(damaged(file, "the program headers cannot be read"));
      return false;
    }
    ElfSegment segment;
    segment.type = entry.u32(0);
    segment.flags = entry.u32(elf.wide ? 4 : 24);
    segment.offset = entry.word(elf.wide ? 8 : 4, elf.wide);
    segment.address = entry.word(elf.wide ? 16 : 8, elf.wide);
    segment.file_size = entry.word(elf.wide ? 32 : 16, elf.wide);
    segment.memory_size = entry.word(elf.wide ? 40 : 20, elf.wide);
    segment.alignment = entry.word(elf.wide ? 48 : 28, elf.wide);
    elf.segments.push_back(segment);
  }
  return true;
}

// Records one PT_LOAD. The checks of _dl_map_object_from_fd (glibc elf/dl-load.c) differ by release and page
// size, so all values are kept. A segment larger in the file than in memory is valid for glibc and musl,
// which ignore the rest.
void take_load(const ElfSegment& segment, BinaryInfo& info) {
  info.has_load = true;
  if (segment.memory_size <= std::numeric_limits<std::uint64_t>::max() - info.memory_size)
    info.memory_size += segment.memory_size;
  const std::uint64_t distance = segment.address - segment.offset;
  info.load_alignments |= segment.alignment;
  info.load_distances |= distance;
  info.breaks_own_alignment |= (distance & (segment.alignment - 1)) != 0;
  info.misaligned |= distance % smallest_page != 0;
}

// Returns the smallest page size at which code shares a page with another segment. A page has the rights of
// the segment mapped last, so such code is not executable. No loader checks this; it happens on machines with
// larger pages than the linker assumed.
std::uint64_t smallest_shared_page(const ElfFile& elf) {
  constexpr std::uint64_t largest_page = 65536;
  std::uint64_t shared = 0;
  const ElfSegment* before = nullptr;
  for (const ElfSegment& segment : elf.segments) {
    if (segment.type != PT_LOAD || segment.memory_size == 0) continue;
    if (before != nullptr && before->flags != segment.flags)
      for (std::uint64_t page = smallest_page; page <= largest_page; page *= 2)
        if ((before->address + before->memory_size - 1) / page == segment.address / page &&
            (shared == 0 || page < shared))
          shared = page;
    before = &segment;
  }
  return shared;
}

void take_segments(const ElfFile& elf, FileView& file, BinaryInfo& info) {
  bool stack_reported = false;
  for (const ElfSegment& segment : elf.segments) {
    if (segment.type == PT_LOAD || segment.type == PT_DYNAMIC || segment.type == PT_INTERP) {
      if (segment.offset > std::numeric_limits<std::uint64_t>::max() - segment.file_size)
        info.problems.push_back(damaged(file, "the offset of a segment is impossible"));
      else if (segment.file_size > 0)
        info.needed_size = std::max(info.needed_size, segment.offset + segment.file_size);
    }
    if (segment.type == PT_LOAD) take_load(segment, info);
    if (segment.type == PT_TLS) {
      info.tls_size = segment.memory_size;
      info.tls_alignment = segment.alignment;
    }
    if (segment.type == PT_INTERP) info.interpreter = file.text(segment.offset).value_or("");
    if (segment.type == PT_GNU_STACK) {
      stack_reported = true;
      info.executable_stack = (segment.flags & 1) != 0;
    }
  }
  info.shared_page = smallest_shared_page(elf);
  // Without PT_GNU_STACK the loader assumes the old default, which is executable on x86
  // (sysdeps/x86/stackinfo.h).
  if (!stack_reported && info.has_load && (elf.machine == 62 || elf.machine == 3))
    info.executable_stack = true;
}

}  // namespace

bool read_elf_header(FileView& file, ElfFile& elf, BinaryInfo& info) {
  elf.file = &file;
  info.kind = Kind::elf;
  info.sniffed = "ELF";
  Fields head;
  const auto available = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64));
  if (!file.read_fields(0, available, false, head)) {
    info.problems.push_back(damaged(file, "the header cannot be read"));
    return false;
  }
  std::uint8_t width = head.u8(4), order = head.u8(5);
  elf.wide = width != 1;
  const std::size_t header_size = elf.wide ? 64 : 52;
  if (file.size() < header_size) {
    info.problems.push_back(std::move(diagnose("EH-F03")
                                          .with("file", file.path())
                                          .with("size", std::to_string(file.size()))
                                          .with("format", "ELF", "first bytes of the file")));
    return false;
  }
  if (width != 1 && width != 2) {
    info.problems.push_back(damaged(file, "its class is neither 32 nor 64 bits"));
    return false;
  }
  if (order != 1 && order != 2) {
    info.problems.push_back(foreign(file, "unknown byte order", "byte_order", std::to_string(order)));
    return false;
  }
  info.bits = elf.wide ? 64 : 32;
  info.big_endian = elf.big_endian = order == 2;
  if (!elf.fields(0, header_size, head)) return false;
  elf.type = head.u16(16);
  elf.machine = head.u16(18);
  std::uint64_t table = head.word(elf.wide ? 32 : 28, elf.wide);
  elf.section_table = head.word(elf.wide ? 40 : 32, elf.wide);
  elf.flags = head.u32(elf.wide ? 48 : 36);
  std::uint16_t entry_size = head.u16(elf.wide ? 54 : 42), count = head.u16(elf.wide ? 56 : 44);
  elf.section_entry_size = head.u16(elf.wide ? 58 : 46);
  elf.section_count = head.u16(elf.wide ? 60 : 48);
  elf.section_names = head.u16(elf.wide ? 62 : 50);
  info.machine = machine_name(elf);
  switch (elf.type) {
    case ET_REL:
      info.type = Type::relocatable_object;
      break;
    case ET_EXEC:
      info.type = Type::executable;
      break;
    case ET_DYN:
      info.type = Type::shared_library;
      break;
    case ET_CORE:
      info.type = Type::core_dump;
      break;
    default:
      info.type = Type::unknown;
  }
  check_identification(head, file, info);
  if (!read_segments(file, elf, info, table, entry_size, count)) return false;
  take_segments(elf, file, info);
  if (info.needed_size > info.file_size)
    info.problems.insert(info.problems.begin(), truncated(info, file, "p_offset + p_filesz"));
  add_type_problem(file, info, name_of(info.type), "e_type");
  return true;
}

const ElfSegment* ElfFile::first(std::uint32_t segment_type) const {
  for (const ElfSegment& segment : segments)
    if (segment.type == segment_type) return &segment;
  return nullptr;
}

std::optional<std::uint64_t> ElfFile::offset_of(std::uint64_t address) const {
  for (const ElfSegment& segment : segments)
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.file_size &&
        segment.offset <= std::numeric_limits<std::uint64_t>::max() - segment.file_size)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

std::optional<std::string> ElfFile::string_at(std::uint64_t index) const {
  if (index >= dynamic.string_size) return std::nullopt;
  const std::optional<std::uint64_t>& table = dynamic.string_offset;
  if (!table || *table > std::numeric_limits<std::uint64_t>::max() - index) return std::nullopt;
  // A search path may be long; loaders accept nothing longer than this.
  constexpr std::uint64_t longest = 65536;
  return file->text(*table + index, std::min(dynamic.string_size - index, longest));
}

std::vector<ElfSection> ElfFile::sections() const {
  const std::uint16_t expected = wide ? 64 : 40;
  if (section_count == 0 || section_count > section_limit || section_entry_size != expected) return {};
  auto header = [&](std::uint64_t index, Fields& entry) {
    std::uint64_t at = index * expected;
    return section_table <= file->size() && fields(section_table + at, expected, entry);
  };
  Fields entry;
  if (section_names >= section_count || !header(section_names, entry)) return {};
  const std::uint64_t names = entry.word(wide ? 24 : 16, wide), names_size = entry.word(wide ? 32 : 20, wide);
  std::vector<ElfSection> found;
  for (std::uint16_t i = 0; i < section_count; ++i) {
    if (!header(i, entry)) return {};
    ElfSection section;
    section.type = entry.u32(4);
    section.address = entry.word(wide ? 16 : 12, wide);
    section.offset = entry.word(wide ? 24 : 16, wide);
    section.size = entry.word(wide ? 32 : 20, wide);
    if (std::uint32_t name = entry.u32(0); name < names_size && names <= file->size())
      section.name = file->text(names + name, 256).value_or("");
    found.push_back(std::move(section));
  }
  return found;
}

}  // namespace enginehost::binary
