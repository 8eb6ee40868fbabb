#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "host/binary/elf_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::size_t entry_limit = 8192;
constexpr std::size_t needed_limit = 4096;
constexpr std::size_t version_limit = 65536;

// Names from <elf.h>.
constexpr std::uint64_t DT_NULL = 0, DT_NEEDED = 1, DT_PLTRELSZ = 2, DT_HASH = 4, DT_STRTAB = 5,
                        DT_SYMTAB = 6, DT_RELA = 7, DT_RELASZ = 8, DT_STRSZ = 10, DT_SONAME = 14,
                        DT_RPATH = 15, DT_TEXTREL = 22, DT_JMPREL = 23, DT_RUNPATH = 29, DT_FLAGS = 30,
                        DT_RELR = 36, DT_GNU_HASH = 0x6ffffef5, DT_VERSYM = 0x6ffffff0,
                        DT_FLAGS_1 = 0x6ffffffb, DT_VERDEF = 0x6ffffffc, DT_VERNEED = 0x6ffffffe,
                        DT_AUXILIARY = 0x7ffffffd, DT_FILTER = 0x7fffffff;
constexpr std::uint64_t DF_TEXTREL = 4, DF_STATIC_TLS = 16;
constexpr std::uint64_t DF_1_NOOPEN = 0x40, DF_1_NODEFLIB = 0x800, DF_1_PIE = 0x08000000;

constexpr std::pair<std::uint64_t, std::uint64_t ElfDynamic::*> number_tags[] = {
    {DT_PLTRELSZ, &ElfDynamic::plt_relocations_size},
    {DT_HASH, &ElfDynamic::hash},
    {DT_STRTAB, &ElfDynamic::string_table},
    {DT_SYMTAB, &ElfDynamic::symbol_table},
    {DT_RELA, &ElfDynamic::relocations},
    {DT_RELASZ, &ElfDynamic::relocations_size},
    {DT_STRSZ, &ElfDynamic::string_size},
    {DT_JMPREL, &ElfDynamic::plt_relocations},
    {DT_FLAGS, &ElfDynamic::flags},
    {DT_GNU_HASH, &ElfDynamic::gnu_hash},
    {DT_VERSYM, &ElfDynamic::version_symbols},
    {DT_FLAGS_1, &ElfDynamic::flags_1},
    {DT_VERDEF, &ElfDynamic::version_definitions},
    {DT_VERNEED, &ElfDynamic::version_needs},
};
constexpr std::pair<std::uint64_t, std::optional<std::uint64_t> ElfDynamic::*> name_tags[] = {
    {DT_SONAME, &ElfDynamic::soname}, {DT_RPATH, &ElfDynamic::rpath}, {DT_RUNPATH, &ElfDynamic::runpath}};

// A loader has no such limit, so omitted entries must be reported.
void take_need(std::uint64_t value, std::vector<std::uint64_t>& needs, ElfDynamic& dynamic) {
  if (needs.size() < needed_limit)
    needs.push_back(value);
  else
    dynamic.too_many_needs = true;
}

void take_entry(std::uint64_t tag, std::uint64_t value, ElfDynamic& dynamic) {
  // A filter's filtee is loaded like a need (glibc elf/dl-deps.c); without it the filter cannot be opened.
  if (tag == DT_NEEDED || tag == DT_FILTER) take_need(value, dynamic.needed, dynamic);
  if (tag == DT_AUXILIARY) take_need(value, dynamic.optional, dynamic);
  if (tag == DT_TEXTREL) dynamic.text_relocations = true;
  if (tag == DT_RELR) dynamic.packed_relocations = true;
  for (const auto& [known, member] : number_tags)
    if (known == tag) dynamic.*member = value;
  for (const auto& [known, member] : name_tags)
    if (known == tag) dynamic.*member = value;
}

bool read_version_needs(const ElfFile& elf, NameBudget& budget, BinaryInfo& info) {
  return for_each_needed_version(elf, [&](const ElfVersion& need) {
    std::optional<std::string> library = elf.string_at(need.library), name = elf.string_at(need.name);
    // Each also stores the name of its library.
    if (!library || !name || !budget.take(library->size() + name->size())) return false;
    constexpr std::uint16_t VER_FLG_WEAK = 2;
    info.version_needs.push_back({std::move(*library), std::move(*name), (need.flags & VER_FLG_WEAK) != 0});
    return true;
  });
}

bool read_version_definitions(const ElfFile& elf, NameBudget& budget, BinaryInfo& info) {
  info.has_version_definitions = elf.dynamic.version_definitions != 0;
  return for_each_defined_version(elf, [&](const ElfVersion& definition) {
    std::optional<std::string> name = elf.string_at(definition.name);
    if (!name || !budget.take(name->size())) return false;
    constexpr std::uint16_t VER_FLG_BASE = 1;
    if ((definition.flags & VER_FLG_BASE) == 0) info.version_definitions.push_back(std::move(*name));
    return true;
  });
}

bool read_names(const ElfFile& elf, NameBudget& budget, BinaryInfo& info) {
  const ElfDynamic& dynamic = elf.dynamic;
  auto name = [&](const std::optional<std::uint64_t>& index, std::string& to) {
    if (!index) return true;
    std::optional<std::string> text = elf.string_at(*index);
    if (!text || !budget.take(text->size())) return false;
    to = std::move(*text);
    return true;
  };
  auto list = [&](const std::vector<std::uint64_t>& indices, std::vector<std::string>& to) {
    to.reserve(indices.size());
    for (std::uint64_t index : indices) {
      std::string text;
      if (!name(index, text)) return false;
      to.push_back(std::move(text));
    }
    return true;
  };
  std::string rpath, runpath;
  if (!list(dynamic.needed, info.needed) || !list(dynamic.optional, info.optional) ||
      !name(dynamic.soname, info.soname) || !name(dynamic.rpath, rpath) || !name(dynamic.runpath, runpath))
    return false;
  info.has_rpath = dynamic.rpath.has_value();
  info.has_runpath = dynamic.runpath.has_value();
  if (info.has_rpath) info.rpath = split(rpath, ':');
  if (info.has_runpath) info.runpath = split(runpath, ':');
  return true;
}

}  // namespace

bool for_each_needed_version(const ElfFile& elf, const std::function<bool(const ElfVersion&)>& visit) {
  if (elf.dynamic.version_needs == 0) return true;
  std::optional<std::uint64_t> library = elf.offset_of(elf.dynamic.version_needs);
  std::size_t count = 0;
  for (Fields need, version; library && elf.fields(*library, 16, need); *library += need.u32(12)) {
    for (std::uint64_t at = *library + need.u32(8);; at += version.u32(12)) {
      if (++count > version_limit || !elf.fields(at, 16, version) ||
          !visit({version.u16(6), version.u16(4), version.u32(8), need.u32(4)}))
        return false;
      if (version.u32(12) == 0) break;
    }
    if (need.u32(12) == 0) return true;
  }
  return false;
}

bool for_each_defined_version(const ElfFile& elf, const std::function<bool(const ElfVersion&)>& visit) {
  if (elf.dynamic.version_definitions == 0) return true;
  std::optional<std::uint64_t> at = elf.offset_of(elf.dynamic.version_definitions);
  std::size_t count = 0;
  for (Fields version, name; at && elf.fields(*at, 20, version); *at += version.u32(16)) {
    if (++count > version_limit || !elf.fields(*at + version.u32(12), 8, name) ||
        !visit({version.u16(4), version.u16(2), name.u32(0), 0}))
      return false;
    if (version.u32(16) == 0) return true;
  }
  return false;
}

bool read_elf_dynamic(ElfFile& elf, BinaryInfo& info) {
  const ElfSegment* segment = elf.first(PT_DYNAMIC);
  if (segment == nullptr) return false;
  info.has_dynamic = true;
  const std::uint64_t size = elf.wide ? 16 : 8;
  const std::uint64_t count = std::min<std::uint64_t>(segment->file_size / size, entry_limit);
  ElfDynamic& dynamic = elf.dynamic;
  dynamic.needed.reserve(8);
  const auto word = [&](const std::uint8_t* from) {
    return elf.wide ? number_at<std::uint64_t>(from, elf.big_endian)
                    : number_at<std::uint32_t>(from, elf.big_endian);
  };
  for (std::uint64_t i = 0; i < count && !dynamic.terminated;) {
    const std::uint64_t at = segment->offset + i * size;
    const std::uint64_t left =
        segment->offset > elf.file->size() || at > elf.file->size() ? 0 : elf.file->size() - at;
    const std::uint64_t bytes =
        std::min({std::uint64_t{FileView::longest_part}, (count - i) * size, left / size * size});
    const std::uint8_t* entries = bytes == 0 ? nullptr : elf.file->part(at, static_cast<std::size_t>(bytes));
    if (entries == nullptr) {
      info.problems.push_back(damaged(*elf.file, "the dynamic section cannot be read"));
      return false;
    }
    for (std::size_t entry = 0; entry < bytes && !dynamic.terminated; entry += size, ++i) {
      const std::uint64_t tag = word(entries + entry);
      if (tag == DT_NULL)
        dynamic.terminated = true;
      else
        take_entry(tag, word(entries + entry + size / 2), dynamic);
    }
  }
  dynamic.string_offset = elf.offset_of(dynamic.string_table);
  info.text_relocations = dynamic.text_relocations || (dynamic.flags & DF_TEXTREL) != 0;
  info.static_tls = (dynamic.flags & DF_STATIC_TLS) != 0;
  info.no_dlopen = (dynamic.flags_1 & DF_1_NOOPEN) != 0;
  info.no_default_directories = (dynamic.flags_1 & DF_1_NODEFLIB) != 0;
  info.packed_relocations = dynamic.packed_relocations;
  info.has_version_symbols = dynamic.version_symbols != 0;
  if ((dynamic.flags_1 & DF_1_PIE) != 0) {
    info.type = Type::position_independent_executable;
    info.problems.push_back(std::move(diagnose(Code::not_a_shared_library)
                                          .with(Key::file, elf.file->path())
                                          .with(Key::type, name_of(info.type), "DF_1_PIE")));
  }
  if (info.no_dlopen)
    info.problems.push_back(std::move(diagnose(Code::loading_forbidden_by_library)
                                          .with(Key::file, elf.file->path())
                                          .with(Key::flag, "DF_1_NOOPEN", "DT_FLAGS_1")));
  if (!dynamic.terminated) {
    info.problems.push_back(damaged(*elf.file, count == entry_limit ? "the dynamic section has more than " +
                                                                          std::to_string(entry_limit) +
                                                                          " entries, and was not read further"
                                                                    : "the dynamic section has no end"));
    return false;
  }
  if (dynamic.too_many_needs)
    info.problems.push_back(damaged(*elf.file, "it needs more than " + std::to_string(needed_limit) +
                                                   " libraries, and not all were checked"));
  NameBudget budget(file_name_limit);
  const auto cannot_be_read = [&](std::string_view problem) {
    info.problems.push_back(damaged(
        *elf.file, budget.spent() ? "the libraries, paths and versions that it names take more than " +
                                        std::to_string(file_name_limit >> 20) + " MiB of text"
                                  : std::string(problem)));
  };
  if (!read_names(elf, budget, info)) {
    cannot_be_read("a name of the dynamic section lies outside its string table");
    return false;
  }
  if (!read_version_needs(elf, budget, info))
    cannot_be_read("the table of needed symbol versions cannot be read");
  if (!budget.spent() && !read_version_definitions(elf, budget, info))
    cannot_be_read("the table of defined symbol versions cannot be read");
  return true;
}

}  // namespace enginehost::binary
