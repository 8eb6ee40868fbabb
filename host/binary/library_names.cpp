// Library names in the text of a file.
#include <algorithm>
#include <set>

#include "host/binary/binary.hpp"
#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::uint64_t section_limit = std::uint64_t{64} << 20;
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
  info.file_size = file.size();
  ElfFile elf;
  Fields magic;
  const bool is_elf = file.read_fields(0, 4, true, magic) && magic.u32(0) == 0x7f454c46;
  if (prefix.empty() || !is_elf || !read_elf_header(file, elf, info)) return {};
  for (const ElfSection& section : elf.sections()) {
    if (!section.name.starts_with(".rodata")) continue;
    const auto bytes = file.bulk(section.offset, section.size, section_limit);
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
