// The load commands of a Mach-O file. Layouts are those of <mach-o/loader.h>.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"

namespace enginehost::binary {
namespace {

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
      if (known.value("problem") == sentence) return;
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

}  // namespace

void take_load_command(MachoFile& macho, std::uint64_t at, std::uint32_t size, const Fields& command,
                       BinaryInfo& info) {
  Command(macho, at, size, command, info).take();
}

}  // namespace enginehost::binary
