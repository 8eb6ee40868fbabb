#include <array>
#include <cstring>

#include "host/binary/elf_symbols.hpp"

namespace enginehost::binary {

Result<PluginHeader> read_plugin_header(const std::filesystem::path& path, std::string_view symbol) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  std::array<char, 4> magic{};
  if (!file.read(0, magic.data(), magic.size()) || std::memcmp(magic.data(),
                                                               "\x7f"
                                                               "ELF",
                                                               4) != 0) {
    TRY_ASSIGN(BinaryInfo other, read_binary(path));
    if (!other.problems.empty()) return fail(other.problems.front());
    return fail(std::move(diagnose("EH-F09").with("file", path.native()).with("format", other.sniffed)));
  }
  BinaryInfo info;
  info.file_size = file.size();
  ElfFile elf;
  read_elf(file, elf, info);
  if (!info.problems.empty()) return fail(info.problems.front());

  PluginHeader header;
  std::optional<RawSymbol> found;
  const bool followed = for_each_symbol(elf, [&](const RawSymbol& raw) {
    if (!raw.exported()) return true;
    std::optional<std::string> name = elf.string_at(raw.name);
    if (!name) return true;
    if (*name == symbol) {
      found = raw;
      return false;
    }
    constexpr std::size_t examples = 16;
    if (header.exports.size() < examples && !name->empty()) header.exports.push_back(std::move(*name));
    return true;
  });
  if (!found) {
    if (!followed) return fail(damaged(file, "the symbol table cannot be followed"));
    return header;
  }
  header.exports.clear();
  constexpr std::size_t head_size = 24;
  std::optional<std::uint64_t> at = elf.offset_of(found->address);
  std::array<char, 8> bytes{};
  Fields head;
  // The whole head must lie in the part of the segment that the file holds.
  if (!at || !elf.offset_of(found->address + head_size - 1) || !file.read(*at, bytes.data(), bytes.size()) ||
      !elf.fields(*at, head_size, head)) {
    header.state = PluginHeader::State::no_bytes;
    return header;
  }
  header.magic.assign(bytes.data(), bytes.size());
  constexpr std::string_view expected{"ENGPLUG", 8};  // with its zero
  header.state = header.magic == expected ? PluginHeader::State::found : PluginHeader::State::wrong_magic;
  header.size = head.u32(8);
  header.abi_major = head.u16(12);
  header.abi_minor = head.u16(14);
  header.host_minor = head.u16(16);
  header.reserved = head.u16(18);
  header.flags = head.u32(20);
  return header;
}

}  // namespace enginehost::binary
