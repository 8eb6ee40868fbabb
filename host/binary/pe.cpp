#include "host/binary/pe.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "host/binary/elf_file.hpp"

// Field offsets are those of Microsoft's "PE Format" page.
namespace enginehost::binary {
namespace {

struct Section {
  std::uint64_t address, file_offset, file_size;
};

constexpr std::size_t section_limit = 96;  // what the Windows loader takes
constexpr std::uint64_t import_limit = 4096;

std::string machine_of(std::uint16_t machine) {
  switch (machine) {
    case 0x014c:
      return "i386";
    case 0x01c4:
      return "arm";
    case 0x8664:
      return "x86_64";
    case 0xaa64:
      return "aarch64";
    case 0xa641:
      return "arm64ec";
    default:
      return "machine " + std::to_string(machine);
  }
}

class Reader {
 public:
  Reader(FileView& file, BinaryInfo& info) : file_(file), info_(info) {}

  void read() {
    info_.kind = Kind::pe;
    info_.sniffed = "PE/COFF (Windows)";
    Fields dos, head, optional;
    if (!fields(0, 64, dos)) return too_short();
    const std::uint64_t at = dos.u32(60);
    if (at + 24 > file_.size()) return truncated(at + 24, "e_lfanew");
    if (!fields(at, 24, head)) return;
    if (head.u32(0) != 0x4550) return damage("there is no PE signature where the header says");
    info_.machine = machine_of(head.u16(4));
    const std::uint16_t section_count = head.u16(6), optional_size = head.u16(20);
    constexpr std::uint16_t IMAGE_FILE_DLL = 0x2000;
    info_.type = (head.u16(22) & IMAGE_FILE_DLL) != 0 ? Type::shared_library : Type::executable;
    const std::uint64_t optional_at = at + 24;
    if (!fields(optional_at, 64, optional)) return truncated(optional_at + 64, "optional header");
    wide_ = optional.u16(0) == 0x20b;
    if (!wide_ && optional.u16(0) != 0x10b) return damage("the optional header is of an unknown kind");
    info_.bits = wide_ ? 64 : 32;
    base_ = wide_ ? optional.u64(24) : optional.u32(28);
    info_.minimum_os = std::to_string(optional.u16(48)) + "." + std::to_string(optional.u16(50));
    directories_ = optional_at + (wide_ ? 112 : 96);
    Fields count;
    if (!fields(directories_ - 4, 4, count)) return truncated(directories_, "optional header");
    directory_count_ = std::min<std::uint32_t>(count.u32(0), 16);
    if (!read_sections(optional_at + optional_size, section_count)) return;
    if (!imports() || !delayed_imports()) damage("an import name lies outside the file");
    info_.code_signed = directory(4) != 0;
    info_.soname = export_name();
  }

 private:
  bool fields(std::uint64_t at, std::size_t count, Fields& to) {
    return file_.read_fields(at, count, false, to);
  }
  void damage(std::string_view problem) { info_.problems.push_back(damaged(file_, problem)); }
  void too_short() {
    info_.problems.push_back(std::move(diagnose("EH-F03")
                                           .with("file", file_.path())
                                           .with("size", std::to_string(file_.size()))
                                           .with("format", info_.sniffed)));
  }
  void truncated(std::uint64_t needed, std::string_view source) {
    info_.needed_size = std::max(info_.needed_size, needed);
    info_.problems.insert(info_.problems.begin(),
                          std::move(diagnose("EH-F04")
                                        .with("file", file_.path())
                                        .with("size", std::to_string(file_.size()))
                                        .with("needed_size", std::to_string(info_.needed_size), source)));
  }

  bool read_sections(std::uint64_t at, std::size_t count) {
    if (count > section_limit) {
      damage("it claims " + std::to_string(count) + " sections");
      return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
      Fields entry;
      if (!fields(at + i * 40, 40, entry)) {
        truncated(at + count * 40, "section table");
        return false;
      }
      sections_.push_back({entry.u32(12), entry.u32(20), entry.u32(16)});
      if (entry.u32(16) > 0)
        info_.needed_size = std::max(info_.needed_size, std::uint64_t{entry.u32(20)} + entry.u32(16));
    }
    if (info_.needed_size > file_.size()) truncated(info_.needed_size, "section table");
    return true;
  }

  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Section& section : sections_)
      if (address >= section.address && address - section.address < section.file_size)
        return section.file_offset + (address - section.address);
    return std::nullopt;
  }
  std::uint64_t directory(std::uint32_t index) {
    Fields entry;
    if (index >= directory_count_ || !fields(directories_ + std::uint64_t{index} * 8, 8, entry)) return 0;
    return entry.u32(0);
  }
  std::optional<std::string> text_at(std::uint64_t address) {
    std::optional<std::uint64_t> at = offset_of(address);
    return at ? file_.text(*at, 1024) : std::nullopt;
  }

  bool imports() {
    std::optional<std::uint64_t> at = directory(1) != 0 ? offset_of(directory(1)) : std::nullopt;
    if (!at) return true;
    for (std::uint64_t i = 0; i < import_limit; ++i) {
      Fields entry;
      if (!fields(*at + i * 20, 20, entry)) return false;
      if (entry.u32(12) == 0) return true;
      std::optional<std::string> name = text_at(entry.u32(12));
      if (!name) return false;
      info_.needed.push_back(std::move(*name));
    }
    return false;
  }

  bool delayed_imports() {
    std::optional<std::uint64_t> at = directory(13) != 0 ? offset_of(directory(13)) : std::nullopt;
    if (!at) return true;
    for (std::uint64_t i = 0; i < import_limit; ++i) {
      Fields entry;
      if (!fields(*at + i * 32, 32, entry)) return false;
      if (entry.u32(4) == 0) return true;
      // Attribute bit 0 clear: compilers before 2003 wrote addresses instead of offsets from the image base.
      std::uint64_t address = entry.u32(4);
      if ((entry.u32(0) & 1) == 0) address -= base_;
      std::optional<std::string> name = text_at(address);
      if (!name) return false;
      info_.delayed.push_back(std::move(*name));
    }
    return false;
  }

  std::string export_name() {
    std::optional<std::uint64_t> at = directory(0) != 0 ? offset_of(directory(0)) : std::nullopt;
    Fields entry;
    if (!at || !fields(*at, 40, entry)) return {};
    return text_at(entry.u32(12)).value_or("");
  }

  FileView& file_;
  BinaryInfo& info_;
  bool wide_ = true;
  std::uint64_t base_ = 0;
  std::uint64_t directories_ = 0;
  std::uint32_t directory_count_ = 0;
  std::vector<Section> sections_;
};

}  // namespace

void read_pe(FileView& file, BinaryInfo& info) { Reader(file, info).read(); }

}  // namespace enginehost::binary
