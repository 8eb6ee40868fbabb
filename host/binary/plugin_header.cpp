#include <algorithm>
#include <array>
#include <functional>

#include "host/binary/elf_file.hpp"
#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::size_t head_size = 24;

Result<PluginHeader> header_of(FileView& file, const std::string& symbol, std::string_view machine) {
  BinaryInfo info;
  ElfFile elf;
  PeFile pe;
  MachoFile macho;
  Result<SymbolTable> table(tl::in_place);
  std::function<std::optional<std::uint64_t>(std::uint64_t)>
      offset_of;  // the place of an address in the file
  const Kind kind = format_of(file);
  if (kind == Kind::elf) {
    read_elf(file, elf, info);
    if (info.problems.empty()) table = read_elf_symbols(elf);
    offset_of = [&](std::uint64_t address) { return elf.offset_of(address); };
  } else if (kind == Kind::pe) {
    read_pe_header(file, pe, info);
    // Damage of its tables is reported by the code that searches its libraries.
    if (info.problems.empty()) table = read_pe_symbols(pe).value_or(SymbolTable());
    offset_of = [&](std::uint64_t address) { return pe.offset_of(address); };
  } else if (kind == Kind::macho) {
    read_macho_slice(file, machine, macho, info);
    if (info.problems.empty()) table = read_macho_symbols(macho);
    offset_of = [&](std::uint64_t address) { return macho.offset_of(address); };
  } else {
    sniff(file, info);
  }
  if (!info.problems.empty()) return fail(info.problems.front());
  if (!table) return fail(std::move(table).error());

  PluginHeader header;
  const auto found = std::ranges::find_if(table->exports, [&](const Symbol& one) {
    return one.name == (kind == Kind::macho ? "_" + symbol : symbol) && one.forwarder.empty();
  });
  if (found == table->exports.end()) {
    if (!table->complete && kind != Kind::pe)
      return fail(damaged(file, "the symbol table cannot be read to its end"));
    constexpr std::size_t examples = 16;
    for (const Symbol& one : table->exports) {
      // ELF lists the names of a library's versions as symbols, which cannot be called.
      const bool version = kind == Kind::elf && one.address == 0 && one.size == 0;
      if (header.exports.size() < examples && !one.name.empty() && !version)
        header.exports.push_back(one.name);
    }
    return header;
  }
  header.object_size = found->size;
  // A PE file may have its constants in a section of code.
  if (kind != Kind::pe && (found->function || found->thread_local_storage)) {
    header.state = PluginHeader::State::no_object;
    return header;
  }
  // The whole head must be in the part of the segment that the file holds.
  std::optional<std::uint64_t> offset = offset_of(found->address);
  if (offset && kind == Kind::macho) *offset += macho.place.offset;
  std::array<char, 8> bytes{};
  Fields head;
  if (!offset || !offset_of(found->address + head_size - 1) ||
      !file.read(*offset, bytes.data(), bytes.size()) ||
      !file.read_fields(*offset, head_size, info.big_endian, head)) {
    header.state = PluginHeader::State::no_bytes;
    return header;
  }
  header.magic.assign(bytes.data(), bytes.size());
  constexpr std::string_view expected{"ENGPLUG", 8};  // with its terminating zero
  header.state = header.magic == expected ? PluginHeader::State::found : PluginHeader::State::wrong_magic;
  header.size = head.u32(8);
  header.abi_major = head.u16(12);
  header.abi_minor = head.u16(14);
  header.host_minor = head.u16(16);
  header.reserved = head.u16(18);
  header.flags = head.u32(20);
  return header;
}

}  // namespace

Result<PluginHeader> read_plugin_header(const std::filesystem::path& path, std::string_view symbol,
                                        std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  return unless_failed(file, header_of(file, std::string(symbol), machine));
}

}  // namespace enginehost::binary
