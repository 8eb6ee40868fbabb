#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

// Returns the largest page size that divides p_vaddr - p_offset.
std::uint64_t lowest_bit(std::uint64_t bits) { return bits & (~bits + 1); }

}  // namespace

void read_elf(FileView& file, ElfFile& elf, BinaryInfo& info) {
  if (!read_elf_header(file, elf, info)) return;
  auto cannot_be_mapped = [&](std::string_view problem) -> Diagnosis& {
    info.problems.push_back(
        std::move(diagnose("EH-F12").with("file", file.path()).with("problem", problem, "program headers")));
    return info.problems.back();
  };
  const bool loadable_type = info.type == Type::shared_library || info.type == Type::executable;
  // A loader maps the segments before it reads a table, so their problems come first.
  if (loadable_type && !info.has_load) cannot_be_mapped("no PT_LOAD");
  if (loadable_type && info.misaligned)
    cannot_be_mapped("misaligned").with("alignment", std::to_string(lowest_bit(info.load_distances)));
  const bool followed = read_elf_dynamic(elf, info);
  if (followed && info.tls_size != 0 && !info.static_tls) info.static_tls = has_static_tls_relocation(elf);
  read_elf_notes(elf, info);
  if (loadable_type && !followed && !info.has_dynamic && info.type == Type::shared_library)
    cannot_be_mapped("no PT_DYNAMIC");
}

}  // namespace enginehost::binary
