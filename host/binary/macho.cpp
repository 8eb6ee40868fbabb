// Constants and layouts are those of <mach-o/loader.h> and <mach-o/fat.h>.
#include <algorithm>
#include <array>

#include "base/text.hpp"
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

enum : std::uint32_t {
  LC_SEGMENT = 0x1,
  LC_SYMTAB = 0x2,
  LC_LOAD_DYLIB = 0xc,
  LC_ID_DYLIB = 0xd,
  LC_LOAD_WEAK_DYLIB = 0x18,
  LC_SEGMENT_64 = 0x19,
  LC_UUID = 0x1b,
  LC_RPATH = 0x1c,
  LC_CODE_SIGNATURE = 0x1d,
  LC_REEXPORT_DYLIB = 0x1f,
  LC_LAZY_LOAD_DYLIB = 0x20,
  LC_ENCRYPTION_INFO = 0x21,
  LC_DYLD_INFO = 0x22,
  LC_LOAD_UPWARD_DYLIB = 0x23,
  LC_VERSION_MIN_MACOSX = 0x24,
  LC_VERSION_MIN_IPHONEOS = 0x25,
  LC_ENCRYPTION_INFO_64 = 0x2c,
  LC_VERSION_MIN_TVOS = 0x2f,
  LC_VERSION_MIN_WATCHOS = 0x30,
  LC_BUILD_VERSION = 0x32,
  LC_DYLD_EXPORTS_TRIE = 0x33,
  LC_DYLD_CHAINED_FIXUPS = 0x34,
  LC_REQ_DYLD = 0x80000000,
};

constexpr std::array platforms{"",
                               "macos",
                               "ios",
                               "tvos",
                               "watchos",
                               "bridgeos",
                               "maccatalyst",
                               "ios simulator",
                               "tvos simulator",
                               "watchos simulator",
                               "driverkit",
                               "visionos",
                               "visionos simulator"};

// A version xxxx.yy.zz in four bytes.
std::string library_version(std::uint32_t packed) {
  return std::to_string(packed >> 16) + "." + std::to_string((packed >> 8) & 255) + "." +
         std::to_string(packed & 255);
}
std::string system_version(std::uint32_t packed) {
  std::string text = std::to_string(packed >> 16) + "." + std::to_string((packed >> 8) & 255);
  if ((packed & 255) != 0) text += "." + std::to_string(packed & 255);
  return text;
}

class Command {
 public:
  Command(MachoFile& macho, std::uint64_t at, std::uint32_t size, const Fields& fields, BinaryInfo& info)
      : macho_(macho), at_(at), size_(size), fields_(fields), info_(info) {}

  void take() {
    using How = DylibNeed::How;
    switch (const std::uint32_t kind = fields_.u32(0) & ~LC_REQ_DYLD; kind) {
      case LC_SEGMENT:
      case LC_SEGMENT_64:
        return segment(kind == LC_SEGMENT_64);
      case LC_SYMTAB:
        macho_.symbols = {fields_.u32(8), fields_.u32(12)};
        macho_.strings = {fields_.u32(16), fields_.u32(20)};
        return;
      case LC_LOAD_DYLIB:
        return dylib(How::required);
      case LC_LOAD_WEAK_DYLIB:
        return dylib(How::weak);
      case LC_REEXPORT_DYLIB:
        return dylib(How::reexported);
      case LC_LAZY_LOAD_DYLIB:
        return dylib(How::lazy);
      case LC_LOAD_UPWARD_DYLIB:
        return dylib(How::upward);
      case LC_ID_DYLIB:
        info_.soname = text(fields_.u32(8));
        info_.macho.current_version = library_version(fields_.u32(16));
        info_.macho.compatibility_version = library_version(fields_.u32(20));
        return;
      case LC_UUID:
        return uuid();
      case LC_RPATH:
        info_.has_rpath = true;
        info_.rpath.push_back(text(fields_.u32(8)));
        return;
      case LC_CODE_SIGNATURE:
        info_.code_signed = true;
        return;
      case LC_ENCRYPTION_INFO:
      case LC_ENCRYPTION_INFO_64:
        info_.macho.encrypted = fields_.u32(16) != 0;  // cryptid
        return;
      case LC_DYLD_INFO:
        macho_.export_trie = {fields_.u32(40), fields_.u32(44)};
        return;
      case LC_DYLD_EXPORTS_TRIE:
        macho_.export_trie = {fields_.u32(8), fields_.u32(12)};
        return;
      case LC_DYLD_CHAINED_FIXUPS:
        macho_.chained_fixups = {fields_.u32(8), fields_.u32(12)};
        info_.macho.chained_fixups = true;
        return;
      case LC_VERSION_MIN_MACOSX:
        return built_for(1, fields_.u32(8), fields_.u32(12));
      case LC_VERSION_MIN_IPHONEOS:
        return built_for(2, fields_.u32(8), fields_.u32(12));
      case LC_VERSION_MIN_TVOS:
        return built_for(3, fields_.u32(8), fields_.u32(12));
      case LC_VERSION_MIN_WATCHOS:
        return built_for(4, fields_.u32(8), fields_.u32(12));
      case LC_BUILD_VERSION:
        return built_for(fields_.u32(8), fields_.u32(12), fields_.u32(16));
      default:
        return;
    }
  }

 private:
  // Returns a text of this command; it may end with the command instead of a zero.
  std::string text(std::uint32_t offset) {
    if (offset < 8 || offset >= size_) {
      problem("a name lies outside its load command");
      return {};
    }
    std::string found;
    const std::uint64_t begin = macho_.place.offset + at_ + offset;
    const std::uint64_t length = size_ - offset;
    if (auto whole = macho_.file->text(begin, length)) return *whole;
    if (auto bytes = macho_.file->bulk(begin, length, 65536)) found.assign(bytes->begin(), bytes->end());
    return found;
  }

  void problem(std::string_view sentence) {
    for (const Diagnosis& known : info_.problems)
      if (known.value(Key::problem) == sentence) return;
    info_.problems.push_back(damaged(*macho_.file, sentence));
  }

  void segment(bool wide) {
    MachoSegment segment;
    for (std::size_t i = 8; i < 24 && fields_.u8(i) != 0; ++i)
      segment.name += static_cast<char>(fields_.u8(i));
    segment.address = fields_.word(24, wide);
    segment.memory_size = fields_.word(wide ? 32 : 28, wide);
    segment.offset = fields_.word(wide ? 40 : 32, wide);
    segment.file_size = fields_.word(wide ? 48 : 36, wide);
    if (segment.name != "__PAGEZERO" && segment.memory_size <= ~std::uint64_t{0} - info_.memory_size)
      info_.memory_size += segment.memory_size;
    const bool fits = segment.offset <= ~std::uint64_t{0} - segment.file_size &&
                      segment.offset + segment.file_size <= ~std::uint64_t{0} - macho_.place.offset;
    if (!fits) return problem("the offset of a segment is impossible");
    const std::uint64_t end = segment.offset + segment.file_size;
    if (segment.file_size > 0) {
      info_.needed_size = std::max(info_.needed_size, macho_.place.offset + end);
      const bool universal = macho_.place.offset != 0;
      if (universal && end > macho_.place.size) problem("a segment lies outside its slice");
    }
    if (info_.macho.thread_locals) count_thread_locals(wide);
    macho_.segments.push_back(std::move(segment));
  }

  // S_THREAD_LOCAL_REGULAR and S_THREAD_LOCAL_ZEROFILL: the template of each thread's variables.
  void count_thread_locals(bool wide) {
    Fields counted;
    const std::uint64_t head = wide ? 72 : 56, entry_size = wide ? 80 : 68;
    if (!macho_.fields(at_ + head - 8, 8, counted)) return;
    const std::uint64_t room = size_ > head ? (size_ - head) / entry_size : 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(counted.u32(0), room); ++i) {
      Fields entry, type;
      const std::uint64_t section = at_ + head + i * entry_size;
      if (!macho_.fields(section, 48, entry) || !macho_.fields(section + (wide ? 64 : 56), 4, type)) return;
      const std::uint32_t kind = type.u32(0) & 255;
      if (kind == 0x11 || kind == 0x12) info_.tls_size += entry.word(wide ? 40 : 36, wide);
    }
  }

  void dylib(DylibNeed::How how) {
    using How = DylibNeed::How;
    // dylib_use_command of Apple's newer linkers: one command for all kinds of use, distinguished by flags.
    constexpr std::uint32_t use_marker = 0x1a741800;
    if (fields_.u32(12) == use_marker && fields_.u32(8) == 28) {
      const std::uint32_t flags = fields_.u32(24);
      if ((flags & 1) != 0)
        how = How::weak;
      else if ((flags & 2) != 0)
        how = How::reexported;
      else if ((flags & 4) != 0)
        how = How::upward;
      else if ((flags & 8) != 0)
        how = How::lazy;
    }
    DylibNeed need{text(fields_.u32(8)), how, library_version(fields_.u32(16)),
                   library_version(fields_.u32(20))};
    if (how == How::weak)
      info_.optional.push_back(need.name);
    else if (how == How::lazy)
      info_.delayed.push_back(need.name);
    else
      info_.needed.push_back(need.name);
    if (how == How::reexported) info_.reexported.push_back(need.name);
    macho_.dylibs.push_back(std::move(need));
  }

  void uuid() {
    std::string bytes;
    for (std::size_t i = 8; i < 24; ++i) bytes += static_cast<char>(fields_.u8(i));
    info_.build_id = hex_of(bytes);
  }

  // A file may be built for two platforms at once (macOS and Catalyst); macOS is the relevant one here.
  void built_for(std::uint32_t platform, std::uint32_t oldest, std::uint32_t sdk) {
    if (info_.macho.platform == "macos") return;
    info_.macho.platform =
        platform < platforms.size() ? platforms[platform] : "platform " + std::to_string(platform);
    info_.minimum_os = system_version(oldest);
    info_.macho.sdk = sdk == 0 ? "" : system_version(sdk);
  }

  MachoFile& macho_;
  std::uint64_t at_;
  std::uint32_t size_;
  const Fields& fields_;
  BinaryInfo& info_;
};

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
    Command(macho, at, size, command, info).take();
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
  if (info.needed_size > file.size() &&
      (info.problems.empty() || info.problems.front().code != Code::file_truncated))
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
                        [](const Diagnosis& problem) { return problem.code == Code::file_truncated; });
}

}  // namespace enginehost::binary
