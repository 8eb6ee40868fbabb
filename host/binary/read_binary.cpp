#include <array>
#include <string_view>

#include "host/binary/elf_file.hpp"
#include "host/binary/macho.hpp"
#include "host/binary/pe.hpp"
#include "host/binary/sniff.hpp"

namespace enginehost::binary {

Result<BinaryInfo> read_binary(const std::filesystem::path& path, std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  BinaryInfo info;
  info.file_size = file.size();
  info.device = file.device();
  info.inode = file.inode();
  std::array<char, 4> head{};
  const std::size_t length = file.read(0, head.data(), 4) ? 4 : (file.read(0, head.data(), 2) ? 2 : 0);
  const std::string_view magic(head.data(), length);
  if (magic ==
      "\x7f"
      "ELF") {
    ElfFile elf;
    read_elf(file, elf, info);
  } else if (magic.substr(0, 2) == "MZ") {
    read_pe(file, info);
  } else if (is_macho(file)) {
    read_macho(file, machine, info);
  } else {
    sniff(file, info);
  }
  return info;
}

}  // namespace enginehost::binary
