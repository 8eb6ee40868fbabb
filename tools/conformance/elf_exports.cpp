#include "tools/conformance/library_file.hpp"

#include <elf.h>

#include <fstream>
#include <iterator>

#include "tools/conformance/byte_reader.hpp"

namespace engineplugin {
namespace {

bool is_exported(const Elf64_Sym& symbol) {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  // STB_GNU_UNIQUE counts too: glibc gives such a symbol one address for each process and never unloads its
  // library.
  return symbol.st_shndx != SHN_UNDEF &&
         (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) && type != STT_SECTION &&
         type != STT_FILE && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

std::optional<ElfFile> ElfFile::read(const std::filesystem::path& path, std::string& error) {
  ElfFile file;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    error = "the file cannot be opened";
    return std::nullopt;
  }
  const std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  file.data_.resize(content.size());
  if (!content.empty()) std::memcpy(file.data_.data(), content.data(), content.size());
  const ByteReader reader(file.data_);

  const auto header = reader.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_type != ET_DYN) {
    error = "this is not a 64-bit little-endian ELF shared library";
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < header->e_phnum; i++) {
    const auto segment = reader.at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) {
      error = "program header " + std::to_string(i) + " lies outside the file";
      return std::nullopt;
    }
    if (segment->p_type == PT_LOAD) {
      file.segments_.push_back({segment->p_offset, segment->p_vaddr, segment->p_filesz});
    }
  }
  for (std::uint64_t i = 0; i < header->e_shnum; i++) {
    const auto section = reader.at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) {
      error = "section header " + std::to_string(i) + " lies outside the file";
      return std::nullopt;
    }
    if (section->sh_type != SHT_DYNSYM) continue;
    const auto strings = reader.at<Elf64_Shdr>(header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!strings || section->sh_link >= header->e_shnum) {
      error = "the dynamic symbols name no string table";
      return std::nullopt;
    }
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= section->sh_size;
         offset += sizeof(Elf64_Sym)) {
      const auto symbol = reader.at<Elf64_Sym>(section->sh_offset + offset);
      if (!symbol) {
        error = "the dynamic symbols lie outside the file";
        return std::nullopt;
      }
      if (!is_exported(*symbol)) continue;
      auto name = reader.text(strings->sh_offset, strings->sh_size, symbol->st_name);
      if (!name) {
        error = "a dynamic symbol's name lies outside the string table";
        return std::nullopt;
      }
      file.exports_.push_back({std::move(*name), symbol->st_value, symbol->st_size});
    }
    return file;
  }
  error = "there are no dynamic symbols (.dynsym)";
  return std::nullopt;
}

std::span<const std::byte> ElfFile::bytes_at(std::uint64_t address, std::size_t count) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address || address - segment.address > segment.file_size) continue;
    const std::uint64_t skip = address - segment.address;
    if (segment.file_size - skip < count || segment.offset > data_.size() ||
        skip > data_.size() - segment.offset || data_.size() - segment.offset - skip < count) {
      continue;
    }
    return std::span(data_).subspan(segment.offset + skip, count);
  }
  return {};
}

}  // namespace engineplugin
