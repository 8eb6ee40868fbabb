#include <array>

#include "base/paths.hpp"
#include "host/binary/elf_file.hpp"
#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::size_t head_size = 24;
constexpr std::size_t examples = 16;

// The position of the object in the file, or the fact that it is not exported.
struct FilePosition {
  bool exported = false;
  bool object = true;  // data with one instance per process
  std::uint64_t size = 0;
  std::optional<std::uint64_t> offset;  // in the file; nothing: code fills it at run time
};

void keep_example(std::string name, std::vector<std::string>& others) {
  if (others.size() < examples && !name.empty()) others.push_back(std::move(name));
}

Result<FilePosition> place_in_elf(FileView& file, std::string_view symbol, std::vector<std::string>& others) {
  BinaryInfo info;
  info.file_size = file.size();
  ElfFile elf;
  read_elf(file, elf, info);
  if (!info.problems.empty()) return fail(info.problems.front());
  std::optional<RawSymbol> found;
  const bool followed = for_each_symbol(elf, [&](const RawSymbol& raw) {
    if (!raw.exported()) return true;
    std::optional<std::string> name = elf.string_at(raw.name);
    if (name && *name == symbol) found = raw;
    // A version's own symbol cannot be called.
    constexpr std::uint16_t SHN_ABS = 0xfff1;
    const bool version = raw.section == SHN_ABS && raw.size == 0;
    if (name && !found && !version) keep_example(std::move(*name), others);
    return !found;
  });
  if (!found && !followed) return fail(damaged(file, "the symbol table cannot be read to its end"));
  if (!found) return FilePosition{};
  // The whole head must be in the part of the segment that the file holds.
  constexpr unsigned STT_FUNC = 2, STT_TLS = 6, STT_GNU_IFUNC = 10;
  const unsigned type = found->type();
  FilePosition place{true, type != STT_FUNC && type != STT_TLS && type != STT_GNU_IFUNC, found->size,
                     elf.offset_of(found->address)};
  if (!elf.offset_of(found->address + head_size - 1)) place.offset.reset();
  return place;
}

Result<FilePosition> place_in_pe(FileView& file, std::string_view symbol, std::vector<std::string>& others) {
  BinaryInfo info;
  PeFile pe;
  read_pe_header(file, pe, info);
  if (!info.problems.empty()) return fail(info.problems.front());
  const std::optional<std::uint64_t> address = find_pe_export(pe, symbol, others);
  if (!address) return FilePosition{};
  FilePosition place{true, true, 0, pe.offset_of(*address)};
  if (!pe.offset_of(*address + head_size - 1)) place.offset.reset();
  return place;
}

Result<FilePosition> place_in_macho(FileView& file, std::string_view machine, std::string_view symbol,
                                    std::vector<std::string>& others) {
  const std::vector<MachoPlace> slices = macho_places(file);
  if (slices.empty()) return fail(damaged(file, "the universal header cannot be read"));
  BinaryInfo info;
  MachoFile macho;
  read_macho_slice(file, chosen_place(slices, machine), macho, info);
  if (!info.problems.empty()) return fail(info.problems.front());
  const std::string decorated = "_" + std::string(symbol);
  std::optional<std::uint64_t> address;
  const bool followed = for_each_macho_export(macho, [&](MachoExport found) {
    if (found.name == decorated && !found.reexported)
      address = macho.base_address() + found.address;
    else
      keep_example(std::move(found.name), others);
    return !address;
  });
  if (!address && !followed) return fail(damaged(file, "the symbol table cannot be read to its end"));
  if (!address) return FilePosition{};
  FilePosition place{true, true, 0, macho.offset_of(*address)};
  if (!macho.offset_of(*address + head_size - 1)) place.offset.reset();
  if (place.offset) *place.offset += macho.place.offset;
  return place;
}

Result<PluginHeader> header_of(FileView& file, std::string_view symbol, std::string_view machine) {
  PluginHeader header;
  FilePosition place;
  bool big_endian = false;
  Fields magic;
  file.read_fields(0, 6, true, magic);
  if (magic.u32(0) == 0x7f454c46) {
    big_endian = magic.u8(5) == 2;
    TRY_ASSIGN(place, place_in_elf(file, symbol, header.exports));
  } else if (magic.u16(0) == 0x4d5a) {
    TRY_ASSIGN(place, place_in_pe(file, symbol, header.exports));
  } else if (is_macho(file)) {
    TRY_ASSIGN(place, place_in_macho(file, machine, symbol, header.exports));
  } else {
    TRY_ASSIGN(BinaryInfo other, read_binary(path_of(file.path())));
    if (!other.problems.empty()) return fail(other.problems.front());
    return fail(damaged(file, "its first bytes match no library format"));
  }
  if (!place.exported) return header;
  header.exports.clear();
  header.object_size = place.size;
  if (!place.object) {
    header.state = PluginHeader::State::no_object;
    return header;
  }
  std::array<char, 8> bytes{};
  Fields head;
  if (!place.offset || !file.read(*place.offset, bytes.data(), bytes.size()) ||
      !file.read_fields(*place.offset, head_size, big_endian, head)) {
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
  return unless_failed(file, header_of(file, symbol, machine));
}

}  // namespace enginehost::binary
