#include <algorithm>
#include <cstring>
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

std::optional<std::string> text_in(const std::vector<std::uint8_t>& table, std::uint64_t at) {
  if (at >= table.size()) return std::nullopt;
  const std::uint8_t* from = table.data() + at;
  const void* end = std::memchr(from, 0, table.size() - static_cast<std::size_t>(at));
  if (end == nullptr) return std::nullopt;
  return std::string(from, static_cast<const std::uint8_t*>(end));
}

Diagnosis damaged(const FileView& file, std::string_view problem) {
  return std::move(diagnose(Code::file_damaged).with(Key::file, file.path()).with(Key::problem, problem));
}

void add_truncated(const FileView& file, BinaryInfo& info, std::uint64_t needed, std::string_view source) {
  info.needed_size = std::max(info.needed_size, needed);
  info.problems.insert(info.problems.begin(),
                       std::move(diagnose(Code::file_truncated)
                                     .with(Key::file, file.path())
                                     .with(Key::size, std::to_string(file.size()))
                                     .with(Key::needed_size, std::to_string(info.needed_size), source)));
}

void add_type_problem(const FileView& file, BinaryInfo& info, std::string_view type,
                      std::string_view source) {
  if (info.type == Type::shared_library) return;
  info.problems.push_back(std::move(
      diagnose(Code::not_a_shared_library).with(Key::file, file.path()).with(Key::type, type, source)));
}

Kind format_of(FileView& file) {
  Fields magic;
  file.read_fields(0, static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 4)), true, magic);
  if (magic.u32(0) == 0x7f454c46) return Kind::elf;
  if (magic.u16(0) == 0x4d5a) return Kind::pe;  // "MZ"
  return is_macho(file) ? Kind::macho : Kind::unknown;
}

namespace {

Result<SymbolTable> symbols_of(FileView& file, std::string_view machine) {
  BinaryInfo info;
  ElfFile elf;
  PeFile pe;
  MachoFile macho;
  const Kind kind = format_of(file);
  if (kind == Kind::pe) {
    if (read_pe_header(file, pe, info)) return read_pe_symbols(pe);
  } else if (kind == Kind::macho) {
    if (read_macho_slice(file, machine, macho, info)) return read_macho_symbols(macho);
  } else if (read_elf_header(file, elf, info) && read_elf_dynamic(elf, info)) {
    return read_elf_symbols(elf);
  }
  if (!info.problems.empty()) return fail(info.problems.front());
  return fail(damaged(file, "it has no dynamic section"));
}

}  // namespace

Result<SymbolTable> read_symbols(const std::filesystem::path& path, std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  return unless_failed(file, symbols_of(file, machine));
}

namespace {

void look_into(FileView& file, std::string_view machine, BinaryInfo& info) {
  info.file_size = file.size();
  info.device = file.device();
  info.inode = file.inode();
  ElfFile elf;
  switch (format_of(file)) {
    case Kind::elf:
      return read_elf(file, elf, info);
    case Kind::pe:
      return read_pe(file, info);
    case Kind::macho:
      return read_macho(file, machine, info);
    case Kind::unknown:
      return sniff(file, info);
  }
}

}  // namespace

Result<BinaryInfo> read_binary(const std::filesystem::path& path, std::string_view machine) {
  TRY_ASSIGN(FileView file, FileView::open(path));
  Result<BinaryInfo> info(tl::in_place);
  look_into(file, machine, *info);
  return unless_failed(file, std::move(info));
}

bool no_such_file(const Diagnosis& why) {
  return why.code == Code::file_not_readable && why.value(Key::errno_).empty();
}

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
