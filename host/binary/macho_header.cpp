#include <algorithm>

#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"

// Constants and layouts are those of <mach-o/loader.h> and <mach-o/fat.h>.
namespace enginehost::binary {
namespace {

enum : std::uint32_t {
  MH_MAGIC = 0xfeedface,
  MH_MAGIC_64 = 0xfeedfacf,
  FAT_MAGIC = 0xcafebabe,
  FAT_MAGIC_64 = 0xcafebabf,
};
constexpr std::uint32_t command_limit = 4096;
constexpr std::uint32_t slice_limit = 16;  // a Java class file has the same magic and a version above this

struct FileType {
  Type type;
  const char* name;
};
FileType file_type_of(std::uint32_t number) {
  switch (number) {
    case 1:
      return {Type::relocatable_object, "object"};
    case 2:
      return {Type::executable, "executable"};
    case 3:
      return {Type::unknown, "fixed VM library"};
    case 4:
      return {Type::core_dump, "core dump"};
    case 5:
      return {Type::unknown, "preloaded executable"};
    case 6:
      return {Type::shared_library, "dylib"};
    case 7:
      return {Type::unknown, "dynamic linker"};
    case 8:
      return {Type::shared_library, "bundle"};
    case 9:
      return {Type::unknown, "dylib stub"};
    case 10:
      return {Type::unknown, "debug symbols (dSYM)"};
    case 11:
      return {Type::unknown, "kernel extension"};
    case 12:
      return {Type::unknown, "file set"};
    default:
      return {Type::unknown, "unknown"};
  }
}

bool read_commands(MachoFile& macho, std::uint32_t count, std::uint32_t length, BinaryInfo& info) {
  const FileView& file = *macho.file;
  std::uint64_t at = macho.wide ? 32 : 28;
  const std::uint64_t end = at + length;
  auto damage = [&](std::string_view problem) {
    info.problems.push_back(damaged(file, problem));
    return false;
  };
  if (count > command_limit) return damage("it claims " + std::to_string(count) + " load commands");
  for (std::uint32_t i = 0; i < count; ++i) {
    Fields command;
    auto truncated = [&](std::uint64_t needed) {
      add_truncated(file, info, macho.place.offset + needed, "load commands");
      return false;
    };
    if (!macho.fields(at, 8, command)) return truncated(std::max(at + 8, end));
    const std::uint32_t size = command.u32(4);
    if (size < 8) return damage("a load command is shorter than its header");
    if (at + size > end) return damage("a load command is longer than the space for all load commands");
    if (!macho.fields(at, std::min<std::size_t>(size, 64), command)) return truncated(end);
    take_load_command(macho, at, size, command, info);
    at += size;
  }
  return true;
}

}  // namespace

std::string macho_machine(std::uint32_t cpu, std::uint32_t subtype) {
  subtype &= 0x00ffffff;  // the high byte holds the pointer authentication ABI
  switch (cpu) {
    case 0x00000007:
      return "i386";
    case 0x01000007:
      return subtype == 8 ? "x86_64h" : "x86_64";
    case 0x0000000c:
      return "arm";
    case 0x0100000c:
      return subtype == 2 ? "arm64e" : "aarch64";
    case 0x0200000c:
      return "arm64_32";
    case 0x00000012:
      return "ppc";
    case 0x01000012:
      return "ppc64";
    default:
      return "cpu " + std::to_string(cpu);
  }
}

std::uint64_t MachoFile::base_address() const {
  for (const MachoSegment& segment : segments)
    if (segment.offset == 0 && segment.file_size > 0) return segment.address;
  return 0;
}

std::optional<std::uint64_t> MachoFile::offset_of(std::uint64_t address) const {
  for (const MachoSegment& segment : segments)
    if (address >= segment.address && address - segment.address < segment.file_size)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

bool is_universal(FileView& file) {
  Fields head;
  return file.read_fields(0, 8, true, head) && (head.u32(0) == FAT_MAGIC || head.u32(0) == FAT_MAGIC_64) &&
         head.u32(4) > 0 && head.u32(4) <= slice_limit;
}

std::vector<MachoPlace> macho_places(FileView& file) {
  Fields head;
  if (!is_universal(file)) {
    for (bool big_endian : {false, true})
      if (file.read_fields(0, 12, big_endian, head) &&
          (head.u32(0) == MH_MAGIC || head.u32(0) == MH_MAGIC_64))
        return {{0, file.size(), head.u32(4), head.u32(8)}};
    return {{0, file.size(), 0, 0}};
  }
  file.read_fields(0, 8, true, head);
  const bool wide = head.u32(0) == FAT_MAGIC_64;
  const std::uint64_t entry_size = wide ? 32 : 20;
  std::vector<MachoPlace> places;
  for (std::uint32_t i = 0; i < head.u32(4); ++i) {
    Fields entry;
    if (!file.read_fields(8 + i * entry_size, static_cast<std::size_t>(entry_size), true, entry)) break;
    places.push_back({entry.word(8, wide), entry.word(wide ? 16 : 12, wide), entry.u32(0), entry.u32(4)});
  }
  return places;
}

const MachoPlace& chosen_place(const std::vector<MachoPlace>& places, std::string_view machine) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const MachoPlace& place) {
    return macho_machine(place.cpu, place.subtype) == machine;
  });
  return found != places.end() ? *found : places.front();
}

bool read_macho_slice(FileView& file, const MachoPlace& place, MachoFile& macho, BinaryInfo& info) {
  macho.file = &file;
  macho.place = place;
  info.kind = Kind::macho;
  info.sniffed = "Mach-O (macOS)";
  if (place.offset > file.size() || place.size > file.size() - place.offset) {
    // An overflowing end counts as beyond the file.
    const bool fits = place.offset <= ~std::uint64_t{0} - place.size;
    add_truncated(file, info, fits ? place.offset + place.size : ~std::uint64_t{0}, "universal header");
    if (place.offset > file.size()) return false;
  }
  Fields head;
  if (!macho.fields(0, 28, head)) {
    add_truncated(file, info, place.offset + 28, "header");
    return false;
  }
  if (head.u32(0) != MH_MAGIC && head.u32(0) != MH_MAGIC_64) {
    macho.big_endian = true;
    macho.fields(0, 28, head);
    if (head.u32(0) != MH_MAGIC && head.u32(0) != MH_MAGIC_64) {
      info.problems.push_back(damaged(file, "a slice does not begin with a Mach-O magic number"));
      return false;
    }
  }
  macho.wide = head.u32(0) == MH_MAGIC_64;
  macho.flags = head.u32(24);
  info.bits = macho.wide ? 64 : 32;
  info.big_endian = macho.big_endian;
  info.machine = macho_machine(head.u32(4), head.u32(8));
  const FileType type = file_type_of(head.u32(12));
  info.type = type.type;
  info.macho.fill().file_type = type.name;
  info.macho.fill().two_level_namespace = (macho.flags & 0x80) != 0;  // MH_TWOLEVEL
  info.macho.fill().thread_locals = (macho.flags & 0x800000) != 0;    // MH_HAS_TLV_DESCRIPTORS
  const bool followed = read_commands(macho, head.u32(16), head.u32(20), info);
  if (info.needed_size > file.size() && (info.problems.empty() || info.problems.front().code != "EH-F04"))
    add_truncated(file, info, info.needed_size, "segments");
  add_type_problem(file, info, info.macho->file_type, "filetype");
  info.macho.fill().dylibs = macho.dylibs;
  return followed;
}

}  // namespace enginehost::binary
