#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "host/binary/elf_file.hpp"
#include "host/binary/formats.hpp"
#include "host/binary/macho_file.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {

// In the order of the enumerators.
std::string_view name_of(Kind kind) {
  constexpr std::string_view names[] = {"unknown", "elf", "pe", "macho"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Type type) {
  constexpr std::string_view names[] = {
      "unknown",  "shared library", "executable", "position-independent executable", "relocatable object",
      "core dump"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view name_of(DylibNeed::How how) {
  constexpr std::string_view names[] = {"required", "weak", "re-exported", "lazy", "upward"};
  return names[static_cast<std::size_t>(how)];
}

std::string name_in(std::span<const NumberName> table, std::uint32_t number, std::string_view otherwise) {
  for (const NumberName& known : table)
    if (known.number == number) return known.name;
  return std::string(otherwise) + " " + std::to_string(number);
}

Diagnosis damaged(const FileView& file, std::string_view problem) {
  return std::move(diagnose("EH-F08").with("file", file.path()).with("problem", problem));
}

void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source) {
  info.needed_size = std::max(info.needed_size, needed);
  info.problems.insert(info.problems.begin(),
                       std::move(diagnose("EH-F04")
                                     .with("file", file.path())
                                     .with("size", std::to_string(file.size()))
                                     .with("needed_size", std::to_string(info.needed_size), source)));
}

void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type,
                      std::string_view source) {
  if (info.type == Type::shared_library) return;
  info.problems.push_back(std::move(diagnose("EH-F10").with("file", file.path()).with("type", type, source)));
}

Result<SymbolTable> read_symbols(const std::filesystem::path& path, std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  Fields magic;
  file.read_fields(0, 4, true, magic);
  if (magic.u16(0) == 0x4d5a) return unless_failed(file, read_pe_symbols(file));  // "MZ"
  if (is_macho(file)) return unless_failed(file, read_macho_symbols(file, machine));
  return unless_failed(file, read_elf_symbols(file));
}

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

std::unique_ptr<Result<BinaryInfo>> read_binary_in(int folder, const std::string& name, std::string path) {
  auto file = FileView::open_in(folder, name, std::move(path));
  if (!file) return nullptr;
  if (!*file) return std::make_unique<Result<BinaryInfo>>(fail(std::move(*file).error()));
  auto info = std::make_unique<Result<BinaryInfo>>(tl::in_place);
  look_into(**file, {}, **info);
  if (auto failure = (*file)->failure()) *info = fail(std::move(*failure));
  return info;
}

}  // namespace enginehost::binary
