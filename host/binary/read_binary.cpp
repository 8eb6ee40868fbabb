#include <array>
#include <string_view>

#include "host/binary/elf_file.hpp"
#include "host/binary/formats.hpp"

namespace enginehost::binary {

namespace {

void look_into(FileView& file, std::string_view machine, BinaryInfo& info) {
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
}

}  // namespace

Result<BinaryInfo> read_binary(const std::filesystem::path& path, std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  Result<BinaryInfo> info(tl::in_place);
  look_into(file, machine, *info);
  return unless_failed(file, std::move(info));
}

bool no_such_file(const Diagnosis& why) { return why.code == "EH-F01" && why.value("errno").empty(); }

std::unique_ptr<Result<BinaryInfo>> read_binary_in(int folder, const std::string& name, std::string path,
                                                   Buffers* buffers) {
  auto file = FileView::open_in(folder, name, std::move(path), buffers);
  if (!file) return nullptr;
  if (!*file) return std::make_unique<Result<BinaryInfo>>(fail(std::move(*file).error()));
  auto info = std::make_unique<Result<BinaryInfo>>(tl::in_place);
  look_into(**file, {}, **info);
  if (auto failure = (*file)->failure()) *info = fail(std::move(*failure));
  return info;
}

}  // namespace enginehost::binary
