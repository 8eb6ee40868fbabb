#include <algorithm>
#include <array>
#include <limits>

#include "base/text.hpp"
#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint16_t segment_limit = 4096;
constexpr std::uint16_t elf_section_limit = 65279;  // SHN_LORESERVE - 1
constexpr std::uint64_t smallest_page = 4096;

// e_machine numbers are those of <elf.h>; the names are uname's if it has one. ELF64 and ELF32 differ.
constexpr NumberName wide_machines[] = {
    {3, "i386"},     {6, "i486"},      {20, "ppc"},         {22, "s390x"},    {40, "arm"},
    {43, "sparc64"}, {50, "ia64"},     {62, "x86_64"},      {183, "aarch64"}, {190, "cuda"},
    {224, "amdgpu"}, {243, "riscv64"}, {258, "loongarch64"}};
constexpr NumberName narrow_machines[] = {
    {22, "s390"}, {62, "x32"}, {183, "aarch64_ilp32"}, {243, "riscv32"}, {258, "loongarch32"}};
constexpr NumberName os_abis[] = {{0, "System V"},    {1, "HP-UX"}, {2, "NetBSD"},      {3, "GNU/Linux"},
                                  {6, "Solaris"},     {7, "AIX"},   {8, "IRIX"},        {9, "FreeBSD"},
                                  {12, "OpenBSD"},    {51, "CUDA"}, {64, "AMDGPU HSA"}, {97, "ARM"},
                                  {255, "standalone"}};

std::string machine_name(const ElfFile& elf) {
  if (elf.machine == 8) return (elf.wide ? "mips64" : "mips") + std::string(elf.big_endian ? "" : "el");
  if (elf.machine == 21) return elf.big_endian ? "ppc64" : "ppc64le";
  for (const NumberName& narrow : narrow_machines)
    if (!elf.wide && narrow.number == elf.machine) return narrow.name;
  return name_in(wide_machines, elf.machine, "machine");
}

Diagnosis foreign(const FileView& file, std::string_view problem, Key what, std::string_view value) {
  return std::move(diagnose(Code::library_for_other_elf_system)
                       .with(Key::file, file.path())
                       .with(Key::problem, problem)
                       .with(what, value, "e_ident"));
}

// Makes the checks of ld.so's open_verify (glibc elf/dl-load.c) on e_ident and e_version, beyond magic and
// class.
void check_identification(const Fields& head, const FileView& file, BinaryInfo& info) {
  std::uint8_t os_abi = head.u8(7);
  info.os_abi = name_in(os_abis, os_abi, "number");
  info.abi_version = head.u8(8);
  if (head.u8(6) != 1)
    info.problems.push_back(foreign(file, "unknown ELF version", Key::version, std::to_string(head.u8(6))));
  if (os_abi != 0 && os_abi != 3)
    info.problems.push_back(foreign(file, "foreign OS ABI", Key::os_abi, info.os_abi));
  if (head.u32(20) != 1)
    info.problems.push_back(foreign(file, "unknown ELF version", Key::version, std::to_string(head.u32(20))));
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
  const auto damage = [&](std::string_view problem) {
    info.problems.push_back(damaged(file, problem));
    return false;
  };
  if (entry_size != expected) return damage("the program headers have an unknown size");
  if (count > segment_limit) return damage("it claims " + std::to_string(count) + " program headers");
  std::uint64_t length = std::uint64_t{count} * entry_size;
  if (table > std::numeric_limits<std::uint64_t>::max() - length)
    return damage("the offset of the program headers is impossible");
  if (table + length > file.size()) {
    add_truncated(file, info, table + length, "program header table");
    return false;
  }
  elf.segments.reserve(count);
  for (std::uint16_t i = 0; i < count; ++i) {
    Fields entry;
    if (!elf.fields(table + std::uint64_t{i} * entry_size, expected, entry))
      return damage("the program headers cannot be read");
    const auto word = [&](std::size_t wide, std::size_t narrow) {
      return entry.word(elf.wide ? wide : narrow, elf.wide);
    };
    elf.segments.push_back({entry.u32(0), entry.u32(elf.wide ? 4 : 24), word(8, 4), word(16, 8), word(32, 16),
                            word(40, 20), word(48, 28)});
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
  if (!stack_reported && info.has_load && (elf.machine == EM_X86_64 || elf.machine == 3))
    info.executable_stack = true;
}

}  // namespace

bool read_elf_header(FileView& file, ElfFile& elf, BinaryInfo& info) {
  elf.file = &file;
  info.kind = Kind::elf;
  info.sniffed = "ELF";
  const auto refused = [&](Diagnosis problem) {
    info.problems.push_back(std::move(problem));
    return false;
  };
  Fields head;
  const auto available = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64));
  if (!file.read_fields(0, available, false, head))
    return refused(damaged(file, "the header cannot be read"));
  std::uint8_t width = head.u8(4), order = head.u8(5);
  elf.wide = width != 1;
  const std::size_t header_size = elf.wide ? 64 : 52;
  if (file.size() < header_size)
    return refused(diagnose(Code::file_too_short)
                       .with(Key::file, file.path())
                       .with(Key::size, std::to_string(file.size()))
                       .with(Key::format, "ELF", "first bytes of the file"));
  if (width != 1 && width != 2) return refused(damaged(file, "its class is neither 32 nor 64 bits"));
  if (order != 1 && order != 2)
    return refused(foreign(file, "unknown byte order", Key::byte_order, std::to_string(order)));
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
  constexpr Type types[] = {Type::unknown, Type::relocatable_object, Type::executable, Type::shared_library,
                            Type::core_dump};  // ET_NONE, ET_REL, ET_EXEC, ET_DYN, ET_CORE
  info.type = elf.type < std::size(types) ? types[elf.type] : Type::unknown;
  check_identification(head, file, info);
  if (!read_segments(file, elf, info, table, entry_size, count)) return false;
  take_segments(elf, file, info);
  if (info.needed_size > file.size()) add_truncated(file, info, info.needed_size, "p_offset + p_filesz");
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
  if (section_count == 0 || section_count > elf_section_limit || section_entry_size != expected) return {};
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

namespace {

enum : std::uint32_t { PT_NOTE = 4, PT_GNU_PROPERTY = 0x6474e553 };
enum : std::uint32_t { NT_GNU_ABI_TAG = 1, NT_GNU_BUILD_ID = 3, NT_GNU_PROPERTY_TYPE_0 = 5 };
enum : std::uint32_t { NT_ENGINEHOST_STAND_IN = 1 };  // of the name "EngineHost"
constexpr std::uint32_t GNU_PROPERTY_X86_ISA_1_NEEDED = 0xc0008002;
constexpr std::uint64_t note_limit = 65536;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

void read_build_id(const ElfFile& elf, std::uint64_t at, std::uint32_t size, BinaryInfo& info) {
  char bytes[64];
  if (size <= sizeof bytes && elf.file->read(at, bytes, size)) info.build_id = hex_of({bytes, size});
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

// The descriptor is four words: the system (0 = Linux) and three numbers of its oldest version.
void read_abi_tag(const ElfFile& elf, std::uint64_t at, std::uint32_t size, BinaryInfo& info) {
  Fields tag;
  if (size < 16 || !elf.fields(at, 16, tag) || tag.u32(0) != 0) return;
  info.minimum_os =
      std::to_string(tag.u32(4)) + "." + std::to_string(tag.u32(8)) + "." + std::to_string(tag.u32(12));
}

// Reads build id, oldest kernel, processor level and EngineHost's mark from PT_NOTE and PT_GNU_PROPERTY.
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
      if (gnu && note.u32(8) == NT_GNU_ABI_TAG) read_abi_tag(elf, content, size, info);
      if (gnu && note.u32(8) == NT_GNU_BUILD_ID) read_build_id(elf, content, size, info);
      if (gnu && note.u32(8) == NT_GNU_PROPERTY_TYPE_0) read_properties(elf, content, size, info);
      const auto is = [&](std::uint64_t place, std::uint32_t length, std::string_view text) {
        return length == text.size() + 1 && elf.file->text(place, length) == text;
      };
      if (note.u32(8) == NT_ENGINEHOST_STAND_IN && is(at + 12, name_size, "EngineHost") &&
          is(content, size, "stand-in"))
        info.stand_in = true;
      at = content + rounded_up(size, step);
    }
  }
}

// Returns the largest page size that divides p_vaddr - p_offset.
std::uint64_t lowest_bit(std::uint64_t bits) { return bits & (~bits + 1); }

}  // namespace

void read_elf(FileView& file, ElfFile& elf, BinaryInfo& info) {
  if (!read_elf_header(file, elf, info)) return;
  auto cannot_be_mapped = [&](std::string_view problem) -> Diagnosis& {
    info.problems.push_back(std::move(diagnose(Code::file_not_mappable)
                                          .with(Key::file, file.path())
                                          .with(Key::problem, problem, "program headers")));
    return info.problems.back();
  };
  const bool loadable_type = info.type == Type::shared_library || info.type == Type::executable;
  // A loader maps the segments before it reads a table, so their problems come first.
  if (loadable_type && !info.has_load) cannot_be_mapped("no PT_LOAD");
  if (loadable_type && info.misaligned)
    cannot_be_mapped("misaligned").with(Key::alignment, std::to_string(lowest_bit(info.load_distances)));
  const bool followed = read_elf_dynamic(elf, info);
  if (followed && info.tls_size != 0 && !info.static_tls) info.static_tls = has_static_tls_relocation(elf);
  read_elf_notes(elf, info);
  if (loadable_type && !followed && !info.has_dynamic && info.type == Type::shared_library)
    cannot_be_mapped("no PT_DYNAMIC");
}

}  // namespace enginehost::binary
