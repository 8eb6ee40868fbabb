#include "host/binary/macho.hpp"

#include <algorithm>

#include "host/binary/elf_file.hpp"

// Constants and layouts are those of <mach-o/loader.h> and <mach-o/fat.h>.
namespace enginehost::binary {
namespace {

enum : std::uint32_t {
  MH_MAGIC = 0xfeedface,
  MH_MAGIC_64 = 0xfeedfacf,
  FAT_MAGIC = 0xcafebabe,
  LC_LOAD_DYLIB = 0xc,
  LC_ID_DYLIB = 0xd,
  LC_LOAD_WEAK_DYLIB = 0x18,
  LC_SEGMENT_64 = 0x19,
  LC_RPATH = 0x1c,
  LC_CODE_SIGNATURE = 0x1d,
  LC_REEXPORT_DYLIB = 0x1f,
  LC_LAZY_LOAD_DYLIB = 0x20,
  LC_LOAD_UPWARD_DYLIB = 0x23,
  LC_VERSION_MIN_MACOSX = 0x24,
  LC_BUILD_VERSION = 0x32,
};
constexpr std::uint32_t command_limit = 4096;
constexpr std::uint32_t slice_limit = 16;  // a class file of Java has the same magic and a version above it

std::string machine_of(std::uint32_t cpu) {
  switch (cpu) {
    case 0x00000007:
      return "i386";
    case 0x01000007:
      return "x86_64";
    case 0x0000000c:
      return "arm";
    case 0x0100000c:
      return "aarch64";
    default:
      return "cpu " + std::to_string(cpu);
  }
}

Type type_of(std::uint32_t file_type) {
  switch (file_type) {
    case 1:
      return Type::relocatable_object;
    case 2:
      return Type::executable;
    case 4:
      return Type::core_dump;
    case 6:  // MH_DYLIB
    case 8:
      return Type::shared_library;  // MH_BUNDLE
    default:
      return Type::unknown;
  }
}

std::string version_text(std::uint32_t packed) {
  std::string text = std::to_string(packed >> 16) + "." + std::to_string((packed >> 8) & 255);
  if ((packed & 255) != 0) text += "." + std::to_string(packed & 255);
  return text;
}

class Slice {
 public:
  Slice(FileView& file, BinaryInfo& info, std::uint64_t base, bool names)
      : file_(file), info_(info), base_(base), names_(names) {}

  void read() {
    Fields head;
    if (!fields(0, 28, head)) return truncated(base_ + 28, "header");
    const std::uint32_t magic = head.u32(0);
    if (magic != MH_MAGIC && magic != MH_MAGIC_64) return damage("a slice does not begin as Mach-O does");
    const bool wide = magic == MH_MAGIC_64;
    if (names_) {
      info_.bits = wide ? 64 : 32;
      info_.type = type_of(head.u32(12));
    }
    if (!info_.machine.empty()) info_.machine += '+';
    info_.machine += machine_of(head.u32(4));
    std::uint64_t at = wide ? 32 : 28;
    const std::uint32_t count = head.u32(16);
    if (count > command_limit) return damage("it claims " + std::to_string(count) + " load commands");
    for (std::uint32_t i = 0; i < count; ++i) {
      Fields command;
      if (!fields(at, 8, command)) return truncated(base_ + at + 8, "load commands");
      const std::uint32_t size = command.u32(4);
      if (size < 8) return damage("a load command is shorter than its head");
      if (!fields(at, std::min<std::size_t>(size, 64), command))
        return truncated(base_ + at + size, "load commands");
      take(at, size, command);
      at += size;
    }
    if (info_.needed_size > file_.size()) truncated(info_.needed_size, "segments");
  }

 private:
  bool fields(std::uint64_t at, std::size_t count, Fields& to) {
    return file_.read_fields(base_ + at, count, false, to);
  }
  void damage(std::string_view problem) { info_.problems.push_back(damaged(file_, problem)); }
  void truncated(std::uint64_t needed, std::string_view source) {
    info_.needed_size = std::max(info_.needed_size, needed);
    info_.problems.insert(info_.problems.begin(),
                          std::move(diagnose("EH-F04")
                                        .with("file", file_.path())
                                        .with("size", std::to_string(file_.size()))
                                        .with("needed_size", std::to_string(info_.needed_size), source)));
  }
  std::string text(std::uint64_t at, std::uint32_t size, std::uint32_t offset) {
    if (offset >= size) return {};
    return file_.text(base_ + at + offset, size - offset).value_or("");
  }

  void take(std::uint64_t at, std::uint32_t size, const Fields& command) {
    constexpr std::uint32_t LC_REQ_DYLD = 0x80000000;
    const std::uint32_t kind = command.u32(0) & ~LC_REQ_DYLD;
    if (kind == LC_SEGMENT_64) {
      const std::uint64_t offset = command.u64(40), length = command.u64(48);
      if (offset <= file_.size() * 2 && length <= ~std::uint64_t{0} / 2)
        info_.needed_size = std::max(info_.needed_size, base_ + offset + length);
    }
    if (!names_) return;
    switch (kind) {
      case LC_LOAD_DYLIB:
      case LC_REEXPORT_DYLIB:
      case LC_LOAD_UPWARD_DYLIB:
        info_.needed.push_back(text(at, size, command.u32(8)));
        break;
      case LC_LOAD_WEAK_DYLIB:
        info_.optional.push_back(text(at, size, command.u32(8)));
        break;
      case LC_LAZY_LOAD_DYLIB:
        info_.delayed.push_back(text(at, size, command.u32(8)));
        break;
      case LC_ID_DYLIB:
        info_.soname = text(at, size, command.u32(8));
        break;
      case LC_RPATH:
        info_.has_rpath = true;
        info_.rpath.push_back(text(at, size, command.u32(8)));
        break;
      case LC_CODE_SIGNATURE:
        info_.code_signed = true;
        break;
      case LC_VERSION_MIN_MACOSX:
        info_.minimum_os = version_text(command.u32(8));
        break;
      case LC_BUILD_VERSION:
        info_.minimum_os = version_text(command.u32(12));
        break;
      default:
        break;
    }
  }

  FileView& file_;
  BinaryInfo& info_;
  std::uint64_t base_;
  bool names_;
};

}  // namespace

bool is_macho(FileView& file) {
  Fields head;
  if (!file.read_fields(0, 8, false, head)) return false;
  if (head.u32(0) == MH_MAGIC || head.u32(0) == MH_MAGIC_64) return true;
  return file.read_fields(0, 8, true, head) && head.u32(0) == FAT_MAGIC && head.u32(4) > 0 &&
         head.u32(4) <= slice_limit;
}

void read_macho(FileView& file, BinaryInfo& info) {
  info.kind = Kind::macho;
  info.sniffed = "Mach-O (macOS)";
  Fields head;
  if (!file.read_fields(0, 8, true, head)) return;
  if (head.u32(0) != FAT_MAGIC) return Slice(file, info, 0, true).read();
  const std::uint32_t count = std::min(head.u32(4), slice_limit);
  for (std::uint32_t i = 0; i < count; ++i) {
    Fields entry;
    if (!file.read_fields(8 + std::uint64_t{i} * 20, 20, true, entry)) return;
    Slice(file, info, entry.u32(8), i == 0).read();
  }
}

}  // namespace enginehost::binary
