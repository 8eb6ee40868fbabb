// Constants and layouts are those of <mach-o/loader.h> and <mach-o/fat.h>.
#include <algorithm>

#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"

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
// By their numbers.
constexpr FileType file_types[] = {{Type::unknown, "unknown"},
                                   {Type::relocatable_object, "object"},
                                   {Type::executable, "executable"},
                                   {Type::unknown, "fixed VM library"},
                                   {Type::core_dump, "core dump"},
                                   {Type::unknown, "preloaded executable"},
                                   {Type::shared_library, "dylib"},
                                   {Type::unknown, "dynamic linker"},
                                   {Type::shared_library, "bundle"},
                                   {Type::unknown, "dylib stub"},
                                   {Type::unknown, "debug symbols (dSYM)"},
                                   {Type::unknown, "kernel extension"},
                                   {Type::unknown, "file set"}};

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
  constexpr NumberName machines[] = {{0x00000007, "i386"},    {0x01000007, "x86_64"},   {0x0000000c, "arm"},
                                     {0x0100000c, "aarch64"}, {0x0200000c, "arm64_32"}, {0x00000012, "ppc"},
                                     {0x01000012, "ppc64"}};
  subtype &= 0x00ffffff;  // the high byte holds the pointer authentication ABI
  if (cpu == 0x01000007 && subtype == 8) return "x86_64h";
  if (cpu == 0x0100000c && subtype == 2) return "arm64e";
  return name_in(machines, cpu, "cpu");
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
  const FileType type = file_types[head.u32(12) < std::size(file_types) ? head.u32(12) : 0];
  info.type = type.type;
  info.macho.file_type = type.name;
  info.macho.two_level_namespace = macho.two_level_namespace();
  info.macho.thread_locals = (macho.flags & 0x800000) != 0;  // MH_HAS_TLV_DESCRIPTORS
  const bool followed = read_commands(macho, head.u32(16), head.u32(20), info);
  if (info.needed_size > file.size() && (info.problems.empty() || info.problems.front().code != "EH-F04"))
    add_truncated(file, info, info.needed_size, "segments");
  add_type_problem(file, info, info.macho.file_type, "filetype");
  info.macho.dylibs = macho.dylibs;
  return followed;
}

bool read_macho_slice(FileView& file, std::string_view machine, MachoFile& macho, BinaryInfo& info) {
  const std::vector<MachoPlace> places = macho_places(file);
  if (!places.empty()) return read_macho_slice(file, chosen_place(places, machine), macho, info);
  info.problems.push_back(damaged(file, "the universal header cannot be read"));
  return false;
}

namespace {

// Reads a slice and keeps the facts about the whole file.
void read_slice(FileView& file, const MachoPlace& place, BinaryInfo& info) {
  MachoFile macho;
  read_macho_slice(file, place, macho, info);
}

void add_slice(FileView& file, const MachoPlace& place, BinaryInfo& info) {
  BinaryInfo slice;
  read_slice(file, place, slice);
  info.machine += "+" + (slice.machine.empty() ? macho_machine(place.cpu, place.subtype) : slice.machine);
  info.needed_size = std::max(info.needed_size, slice.needed_size);
  for (Diagnosis& problem : slice.problems) info.problems.push_back(std::move(problem));
}

}  // namespace

bool is_macho(FileView& file) {
  Fields head;
  if (!file.read_fields(0, 4, false, head)) return false;
  // The magic numbers of both widths, in both byte orders.
  for (std::uint32_t magic : {0xfeedfaceu, 0xfeedfacfu, 0xcefaedfeu, 0xcffaedfeu})
    if (head.u32(0) == magic) return true;
  return is_universal(file);
}

void read_macho(FileView& file, std::string_view machine, BinaryInfo& info) {
  info.kind = Kind::macho;
  info.sniffed = "Mach-O (macOS)";
  const std::vector<MachoPlace> places = macho_places(file);
  if (!is_universal(file)) return read_slice(file, places.front(), info);
  for (const MachoPlace& place : places)
    info.slices.push_back({macho_machine(place.cpu, place.subtype), place.offset, place.size});
  if (places.empty()) return add_truncated(file, info, 28, "universal header");
  const bool chosen = std::any_of(info.slices.begin(), info.slices.end(),
                                  [&](const Slice& slice) { return slice.machine == machine; });
  const MachoPlace& first = chosen_place(places, machine);
  read_slice(file, first, info);
  if (info.machine.empty()) info.machine = macho_machine(first.cpu, first.subtype);
  if (!chosen)
    for (std::size_t i = 1; i < places.size(); ++i) add_slice(file, places[i], info);
  // Worst first, because truncation explains all other problems.
  std::stable_partition(info.problems.begin(), info.problems.end(),
                        [](const Diagnosis& problem) { return problem.code == "EH-F04"; });
}

}  // namespace enginehost::binary
