// GPU code in ELF and PE files. NVIDIA does not document the layout of .nv_fatbin; this layout was derived
// from shipped libraries. Blocks: magic 0xBA55ED50, u16 version, u16 header size, u64 payload size. Entries
// in a block: u16 kind (1 PTX, 2 SASS), u16 version, u32 header size, u64 data size, ... u32 architecture at
// offset 28.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "host/binary/binary.hpp"
#include "host/binary/elf_file.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint32_t block_magic = 0xBA55ED50;
constexpr std::uint64_t block_header = 16;
constexpr std::uint64_t gpu_entry_limit = 1u << 22;

std::string arch_name(std::uint32_t arch) {
  return std::to_string(arch / 10) + "." + std::to_string(arch % 10);
}

class Scan {
 public:
  explicit Scan(FileView& file) : file_(file) {}

  void section(std::uint64_t at, std::uint64_t end) {
    while (at + block_header <= end && entries_ < gpu_entry_limit) {
      Fields block;
      if (!file_.read_fields(at, block_header, false, block))
        return report("the section ends beyond the file");
      if (block.u32(0) != block_magic) {
        const std::uint64_t next = next_block(at + 8, end);
        // Short gaps between blocks are alignment; a longer gap is code of an unknown layout.
        if (next - at > 4096) report("a part of " + std::to_string(next - at) + " bytes was not understood");
        at = next;
        continue;
      }
      const std::uint64_t start = at + block.u16(6), size = block.u64(8);
      if (block.u16(6) < block_header || size > end - at) return report("a block is longer than its section");
      entries(start, std::min(start + size, end));
      at = (start + size + 7) / 8 * 8;
    }
    if (entries_ >= gpu_entry_limit) report("there are more entries than the reader's limit");
  }

  GpuCode result() {
    GpuCode code;
    for (const auto& [key, count] : counts_) {
      const auto& [kind, arch] = key;
      code.entries.push_back({kind == 1 ? "ptx" : "sass", arch_name(arch), count});
    }
    std::stable_sort(code.entries.begin(), code.entries.end(),
                     [](const auto& a, const auto& b) { return a.kind > b.kind; });
    code.note = note_;
    return code;
  }

  void report(std::string what) {
    if (note_.empty()) note_ = std::move(what);
  }

 private:
  void entries(std::uint64_t at, std::uint64_t end) {
    while (at + 64 <= end && ++entries_ < gpu_entry_limit) {
      Fields entry;
      if (!file_.read_fields(at, 64, false, entry)) return report("a block ends beyond the file");
      const std::uint64_t header = entry.u32(4), size = entry.u64(8);
      const std::uint16_t kind = entry.u16(0);
      if (header < 32 || header > 4096 || size > end - at) return report("an entry is longer than its block");
      if (kind == 1 || kind == 2)
        ++counts_[{kind, entry.u32(28)}];
      else
        report("entries of kind " + std::to_string(kind) + " were skipped");
      at += header + size;
    }
  }

  // Returns the next multiple of eight from `at` where a block begins.
  std::uint64_t next_block(std::uint64_t at, std::uint64_t end) {
    std::array<std::uint8_t, 65536> bytes;
    while (at + block_header <= end) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - at)) / 8 * 8;
      if (!file_.read(at, bytes.data(), part)) return end;
      for (std::size_t i = 0; i + 8 <= part; i += 8)
        if (bytes[i] == 0x50 && bytes[i + 1] == 0xed && bytes[i + 2] == 0x55 && bytes[i + 3] == 0xba)
          return at + i;
      at += part;
    }
    return end;
  }

  FileView& file_;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> counts_;
  std::uint64_t entries_ = 0;
  std::string note_;
};

struct Part {
  std::string name;
  std::uint64_t offset = 0, size = 0;
};

bool parts_of_elf(FileView& file, std::vector<Part>& parts) {
  BinaryInfo info;
  ElfFile elf;
  if (!read_elf_header(file, elf, info)) return false;
  for (const ElfSection& section : elf.sections())
    if (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin")
      parts.push_back({section.name, section.offset, section.size});
  return true;
}

// Section names of a PE image have eight bytes; the neighboring .nvFatBi holds only pointers to the blocks.
bool parts_of_pe(FileView& file, std::vector<Part>& parts) {
  BinaryInfo info;
  PeFile pe;
  if (!read_pe_header(file, pe, info)) return false;
  for (const PeSection& section : pe.sections)
    if (section.name == ".nv_fatb" || section.name == ".nv_fatbin" || section.name == "__nv_rel")
      parts.push_back({section.name, section.file_offset, std::min(section.file_size, section.memory_size)});
  return true;
}

GpuCode look_through(FileView& file) {
  const Kind kind = format_of(file);
  std::vector<Part> parts;
  bool followed = true;
  if (kind == Kind::elf) followed = parts_of_elf(file, parts);
  if (kind == Kind::pe) followed = parts_of_pe(file, parts);
  Scan scan(file);
  if (!followed) scan.report("the file's metadata is damaged");
  for (const Part& part : parts) {
    if (part.offset > file.size() || part.size > file.size() - part.offset)
      scan.report("the section " + part.name + " lies beyond the end of the file");
    else
      scan.section(part.offset, part.offset + part.size);
  }
  return scan.result();
}

}  // namespace

Result<GpuCode> gpu_code(const std::filesystem::path& path) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  return unless_failed<GpuCode>(file, look_through(file));
}

// Library names in the text of a file.

namespace {

constexpr std::uint64_t text_section_limit = std::uint64_t{64} << 20;
constexpr std::size_t longest_name = 128;

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '+';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns "libcudnn_ops.so.9" if the text begins with such a name, or nothing. A period at the end of a
// sentence is not part of it.
std::string name_at(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && in_name(text[at])) ++at;
  if (text.substr(at, 3) != ".so") return {};
  at += 3;
  while (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  return std::string(text.substr(0, at));
}

std::vector<std::string> names_in(FileView& file, std::string_view prefix) {
  std::set<std::string> names;
  BinaryInfo info;
  ElfFile elf;
  if (prefix.empty() || format_of(file) != Kind::elf || !read_elf_header(file, elf, info)) return {};
  for (const ElfSection& section : elf.sections()) {
    if (!section.name.starts_with(".rodata")) continue;
    const auto bytes = file.bulk(section.offset, section.size, text_section_limit);
    if (!bytes) continue;
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    for (std::size_t at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at + 1))
      if (std::string name = name_at(text.substr(at, longest_name)); !name.empty())
        names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

}  // namespace

Result<std::vector<std::string>> library_names(const std::filesystem::path& path, std::string_view prefix) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  return unless_failed<std::vector<std::string>>(file, names_in(file, prefix));
}

}  // namespace enginehost::binary
