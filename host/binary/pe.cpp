// Field offsets are those of Microsoft's "PE Format" page.
#include <algorithm>

#include "host/binary/formats.hpp"
#include "host/binary/pe_file.hpp"

namespace enginehost::binary {
namespace {

constexpr std::size_t section_limit = 96;  // the limit of the Windows loader
constexpr std::uint64_t import_limit = 4096;
constexpr std::uint64_t pe_name_limit = 16384;  // C++ names are long; a longer one is damage

constexpr NumberName pe_machines[] = {{0x014c, "i386"},       {0x01c0, "arm"},    {0x01c4, "arm"},
                                      {0x0200, "ia64"},       {0x8664, "x86_64"}, {0xaa64, "aarch64"},
                                      {0xa641, "arm64ec"},    {0xa64e, "arm64x"}, {0x5064, "riscv64"},
                                      {0x6264, "loongarch64"}};
constexpr NumberName subsystems[] = {{0, "unknown"},
                                     {1, "native"},
                                     {2, "windows"},
                                     {3, "console"},
                                     {7, "posix"},
                                     {9, "windows CE"},
                                     {10, "EFI application"},
                                     {11, "EFI boot service driver"},
                                     {12, "EFI runtime driver"},
                                     {13, "EFI ROM"},
                                     {14, "xbox"},
                                     {16, "boot application"}};

std::string dotted(unsigned major, unsigned minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// Reads the optional header's fixed part: 96 bytes, or 112 with 64-bit sizes.
bool read_optional_header(std::uint64_t at, PeFile& pe, BinaryInfo& info) {
  Fields first, rest;
  const FileView& file = *pe.file;
  if (!pe.fields(at, 64, first)) {
    add_truncated(file, info, at + 64, "optional header");
    return false;
  }
  pe.wide = first.u16(0) == 0x20b;
  if (!pe.wide && first.u16(0) != 0x10b) {
    info.problems.push_back(damaged(file, "the optional header has an unknown format"));
    return false;
  }
  const std::uint64_t fixed_size = pe.wide ? 112 : 96;
  if (!pe.fields(at + 64, static_cast<std::size_t>(fixed_size - 64), rest)) {
    add_truncated(file, info, at + fixed_size, "optional header");
    return false;
  }
  info.bits = pe.wide ? 64 : 32;
  PeFacts& facts = info.pe;
  pe.base = facts.image_base = pe.wide ? first.u64(24) : first.u32(28);
  facts.linker_version = dotted(first.u8(2), first.u8(3));
  facts.system_version = dotted(first.u16(40), first.u16(42));
  info.minimum_os = dotted(first.u16(48), first.u16(50));
  info.memory_size = first.u32(56);
  pe.headers_size = first.u32(60);
  facts.subsystem = name_in(subsystems, rest.u16(4), "number");
  const std::uint16_t flags = rest.u16(6);
  facts.high_entropy_addresses = (flags & 0x0020) != 0;
  facts.dynamic_base = (flags & 0x0040) != 0;
  facts.force_integrity = (flags & 0x0080) != 0;
  facts.no_execute = (flags & 0x0100) != 0;
  facts.no_isolation = (flags & 0x0200) != 0;
  facts.app_container = (flags & 0x1000) != 0;
  facts.control_flow_guard = (flags & 0x4000) != 0;
  pe.directories = at + fixed_size;
  pe.directory_count = std::min<std::uint32_t>(rest.u32(static_cast<std::size_t>(fixed_size - 68)), 16);
  return true;
}

// Returns a section name. One longer than eight bytes is "/" and its decimal offset in the string table after
// the COFF symbols, which only some linkers keep in a library.
std::string section_name(const PeFile& pe, const Fields& entry, std::uint64_t strings) {
  std::string name;
  for (std::size_t i = 0; i < 8 && entry.u8(i) != 0; ++i) name += static_cast<char>(entry.u8(i));
  if (name.size() < 2 || name.front() != '/' || strings == 0) return name;
  std::uint64_t place = 0;
  for (char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') return name;
    place = place * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return pe.file->text(strings + place, 256).value_or(name);
}

bool read_sections(std::uint64_t at, std::size_t count, std::uint64_t strings, PeFile& pe, BinaryInfo& info) {
  if (count > section_limit) {
    info.problems.push_back(damaged(*pe.file, "it claims " + std::to_string(count) + " sections"));
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Fields entry;
    if (!pe.fields(at + i * 40, 40, entry)) {
      add_truncated(*pe.file, info, at + count * 40, "section table");
      return false;
    }
    PeSection section{section_name(pe, entry, strings),
                      entry.u32(12),
                      entry.u32(8),
                      entry.u32(20),
                      entry.u32(16),
                      entry.u32(36)};
    // Uninitialized data may have a size without bytes.
    if (section.file_offset == 0) section.file_size = 0;
    if (section.file_size > 0)
      info.needed_size = std::max(info.needed_size, std::uint64_t{section.file_offset} + section.file_size);
    pe.sections.push_back(std::move(section));
  }
  return true;
}

// An imported library and its table of imports.
struct PeImportedLibrary {
  std::string name;
  std::uint64_t lookup_table = 0;  // relative to the image base
  bool delayed = false;
  bool absolute = false;  // a delay-import table of compilers before 2003: absolute addresses
};

bool read_ordinary_imports(const PeFile& pe, NameBudget& budget, std::vector<PeImportedLibrary>& libraries) {
  const std::uint64_t table = pe.directory(PeDirectory::imports).address;
  if (table == 0) return true;
  for (std::uint64_t i = 0; i < import_limit; ++i) {
    Fields entry;
    if (!pe.fields_at(table + i * 20, 20, entry)) return false;
    // The Windows loader stops at an entry without a name or without a table to fill.
    if (entry.u32(12) == 0 || entry.u32(16) == 0) return true;
    std::optional<std::string> name = pe.text_at(entry.u32(12));
    if (!name || !budget.take(name->size())) return false;
    // Old linkers wrote one table for both uses. If it is bound, it holds addresses, which cannot be mapped
    // to names.
    libraries.push_back({std::move(*name), entry.u32(0) != 0 ? entry.u32(0) : entry.u32(16), false, false});
  }
  return false;
}

bool read_delayed_imports(const PeFile& pe, NameBudget& budget, std::vector<PeImportedLibrary>& libraries) {
  const std::uint64_t table = pe.directory(PeDirectory::delayed_imports).address;
  if (table == 0) return true;
  for (std::uint64_t i = 0; i < import_limit; ++i) {
    Fields entry;
    if (!pe.fields_at(table + i * 32, 32, entry)) return false;
    if (entry.u32(4) == 0) return true;
    const bool absolute = (entry.u32(0) & 1) == 0;  // delayimp.h, dlattrRva
    const std::uint64_t base = absolute ? pe.base : 0;
    std::optional<std::string> name = pe.text_at(entry.u32(4) - base);
    if (!name || !budget.take(name->size())) return false;
    libraries.push_back({std::move(*name), entry.u32(16) - base, true, absolute});
  }
  return false;
}

}  // namespace

const PeSection* PeFile::section_of(std::uint64_t address) const {
  for (const PeSection& section : sections)
    if (address >= section.address &&
        address - section.address < std::max(section.file_size, section.memory_size))
      return &section;
  return nullptr;
}

std::optional<std::uint64_t> PeFile::offset_of(std::uint64_t address) const {
  for (const PeSection& section : sections)
    if (address >= section.address && address - section.address < section.file_size)
      return section.file_offset + (address - section.address);
  if (address < headers_size) return address;  // the headers are mapped as they are in the file
  return std::nullopt;
}

bool PeFile::fields_at(std::uint64_t address, std::size_t count, Fields& to) const {
  const std::optional<std::uint64_t> at = offset_of(address);
  return at && fields(*at, count, to);
}

std::optional<std::string> PeFile::text_at(std::uint64_t address) const {
  const std::optional<std::uint64_t> at = offset_of(address);
  return at ? file->text(*at, pe_name_limit) : std::nullopt;
}

PeDirectory PeFile::directory(PeDirectory::Index index) const {
  Fields entry;
  if (index >= directory_count || !fields(directories + std::uint64_t{index} * 8, 8, entry)) return {};
  return {entry.u32(0), entry.u32(4)};
}

bool read_pe_header(FileView& file, PeFile& pe, BinaryInfo& info) {
  pe.file = &file;
  info.kind = Kind::pe;
  info.sniffed = "PE/COFF (Windows)";
  Fields dos, head;
  if (!pe.fields(0, 64, dos)) {
    info.problems.push_back(std::move(diagnose(Code::file_too_short)
                                          .with(Key::file, file.path())
                                          .with(Key::size, std::to_string(file.size()))
                                          .with(Key::format, info.sniffed)));
    return false;
  }
  const std::uint64_t at = dos.u32(60);
  if (!pe.fields(at, 24, head)) {
    add_truncated(file, info, at + 24, "e_lfanew");
    return false;
  }
  if (head.u32(0) != 0x4550) {
    info.problems.push_back(damaged(file, "there is no PE signature where the header says"));
    return false;
  }
  pe.machine = head.u16(4);
  info.machine = name_in(pe_machines, pe.machine, "machine");
  constexpr std::uint16_t IMAGE_FILE_DLL = 0x2000;
  info.type = (head.u16(22) & IMAGE_FILE_DLL) != 0 ? Type::shared_library : Type::executable;
  if (!read_optional_header(at + 24, pe, info)) return false;
  const std::uint64_t symbols = head.u32(12);
  const std::uint64_t strings = symbols == 0 ? 0 : symbols + std::uint64_t{head.u32(16)} * 18;
  if (!read_sections(at + 24 + head.u16(20), head.u16(6), strings, pe, info)) return false;
  if (const PeDirectory certificates = pe.directory(PeDirectory::certificates); certificates.address != 0) {
    info.code_signed = true;
    info.needed_size = std::max(info.needed_size, std::uint64_t{certificates.address} + certificates.size);
  }
  if (info.needed_size > file.size()) add_truncated(file, info, info.needed_size, "section table");
  add_type_problem(file, info, name_of(info.type), "IMAGE_FILE_DLL");
  return true;
}

namespace {

// Reads the libraries of the import and delay-import tables, in file order. Returns false if a table cannot
// be read to its end; the list then has the libraries before that point.
bool read_imported_libraries(const PeFile& pe, std::vector<PeImportedLibrary>& libraries) {
  NameBudget budget(file_name_limit);
  const bool ordinary = read_ordinary_imports(pe, budget, libraries);
  return read_delayed_imports(pe, budget, libraries) && ordinary;
}

// IMAGE_TLS_DIRECTORY: first and last address of the template, ..., the zeroes after it.
void read_thread_locals(const PeFile& pe, BinaryInfo& info) {
  const PeDirectory directory = pe.directory(PeDirectory::thread_locals);
  Fields entry;
  if (directory.address == 0 || !pe.fields_at(directory.address, pe.wide ? 40 : 24, entry)) return;
  const std::uint64_t begin = entry.word(0, pe.wide), end = entry.word(pe.wide ? 8 : 4, pe.wide);
  info.tls_size = (end >= begin ? end - begin : 0) + entry.u32(pe.wide ? 32 : 16);
}

// IMAGE_LOAD_CONFIG_DIRECTORY grew with every release; its first number is its size.
void read_load_configuration(const PeFile& pe, BinaryInfo& info) {
  const PeDirectory directory = pe.directory(PeDirectory::load_configuration);
  Fields head, hybrid;
  if (directory.address == 0 || !pe.fields_at(directory.address, 4, head)) return;
  const std::uint32_t size = head.u32(0);
  const std::uint64_t flags_at = pe.wide ? 78 : 54;
  if (size >= flags_at + 2 && pe.fields_at(directory.address + flags_at, 2, head))
    info.pe.dependent_load_flags = head.u16(0);
  // CHPEMetadataPointer: code for two machines in one file. The file's header names only one of them.
  constexpr std::uint64_t hybrid_at = 200;
  if (pe.wide && size >= hybrid_at + 8 && pe.fields_at(directory.address + hybrid_at, 8, hybrid) &&
      hybrid.u64(0) != 0) {
    if (info.machine == "x86_64") info.machine = "arm64ec";
    if (info.machine == "aarch64") info.machine = "arm64x";
  }
}

}  // namespace

void read_pe(FileView& file, BinaryInfo& info) {
  PeFile pe;
  if (!read_pe_header(file, pe, info)) return;
  std::vector<PeImportedLibrary> libraries;
  if (!read_imported_libraries(pe, libraries))
    info.problems.push_back(damaged(file, "the import table cannot be read to its end"));
  for (PeImportedLibrary& library : libraries)
    (library.delayed ? info.delayed : info.needed).push_back(std::move(library.name));
  Fields exports;
  if (const PeDirectory directory = pe.directory(PeDirectory::exports);
      directory.address != 0 && pe.fields_at(directory.address, 40, exports))
    info.soname = pe.text_at(exports.u32(12)).value_or("");
  read_thread_locals(pe, info);
  read_load_configuration(pe, info);
  info.pe.bound_imports = pe.directory(PeDirectory::bound_imports).address != 0;
  info.pe.managed = pe.directory(PeDirectory::managed_code).address != 0;
  info.pe.has_resources = pe.directory(PeDirectory::resources).address != 0;
}

// The tables ".edata" and ".idata".

namespace {

constexpr std::uint32_t ordinal_limit = 65536;  // an ordinal has 16 bits
constexpr std::uint64_t table_limit = 4 * symbol_limit;

struct ExportDirectory {
  std::uint32_t begin = 0, size = 0;
  std::uint32_t ordinal_base = 0;
  std::uint32_t address_count = 0, name_count = 0;
  std::uint32_t addresses = 0, names = 0, ordinals = 0;
};

std::optional<ExportDirectory> export_directory(const PeFile& pe) {
  const PeDirectory directory = pe.directory(PeDirectory::exports);
  Fields entry;
  if (directory.address == 0 || !pe.fields_at(directory.address, 40, entry)) return std::nullopt;
  return ExportDirectory{directory.address, directory.size, entry.u32(16), entry.u32(20),
                         entry.u32(24),     entry.u32(28),  entry.u32(32), entry.u32(36)};
}

// The numbers of a table that is contiguous in the file.
class Table {
 public:
  Table(const PeFile& pe, std::uint64_t address, std::uint64_t count, unsigned width) : width_(width) {
    const std::optional<std::uint64_t> at = pe.offset_of(address);
    if (!at) return;
    // A table beyond the end of the file is read up to the end.
    const std::uint64_t room = *at < pe.file->size() ? (pe.file->size() - *at) / width : 0;
    whole_ = count <= room;
    if (auto bytes = pe.file->bulk(*at, std::min(count, room) * width, table_limit))
      bytes_ = std::move(*bytes);
  }
  bool whole() const { return whole_; }
  std::uint64_t size() const { return bytes_.size() / width_; }
  std::uint32_t operator[](std::uint64_t index) const {
    std::uint32_t value = 0;
    for (unsigned i = width_; i-- > 0;)
      value = (value << 8) | bytes_[static_cast<std::size_t>(index) * width_ + i];
    return value;
  }

 private:
  unsigned width_;
  bool whole_ = false;
  std::vector<std::uint8_t> bytes_;
};

void read_exports(const PeFile& pe, const ExportDirectory& directory, SymbolTable& table,
                  NameBudget& budget) {
  const std::uint32_t count = std::min(directory.address_count, ordinal_limit);
  const Table addresses(pe, directory.addresses, count, 4);
  const Table names(pe, directory.names, std::min<std::uint64_t>(directory.name_count, symbol_limit), 4);
  const Table ordinals(pe, directory.ordinals, names.size(), 2);
  if (count != directory.address_count || (count > 0 && !addresses.whole()) ||
      (directory.name_count > 0 && (!names.whole() || !ordinals.whole())))
    table.complete = false;
  const auto add = [&](std::string name, std::uint32_t index) {
    Symbol symbol;
    symbol.name = std::move(name);
    symbol.ordinal = directory.ordinal_base + index;
    symbol.address = addresses[index];
    if (symbol.address >= directory.begin && symbol.address - directory.begin < directory.size) {
      // An address inside the export directory is the text of a forwarder.
      std::optional<std::string> target = pe.text_at(symbol.address);
      table.complete = table.complete && target;
      symbol.forwarder = target.value_or("");
    } else if (const PeSection* section = pe.section_of(symbol.address)) {
      constexpr std::uint32_t IMAGE_SCN_MEM_EXECUTE = 0x20000000;
      symbol.function = (section->flags & IMAGE_SCN_MEM_EXECUTE) != 0;
    }
    if (budget.take(symbol.name.size() + symbol.forwarder.size()))
      table.exports.push_back(std::move(symbol));
    else
      table.complete = false;
  };
  std::vector<bool> named(static_cast<std::size_t>(addresses.size()));
  for (std::uint64_t i = 0; i < std::min(names.size(), ordinals.size()) && !budget.spent(); ++i) {
    std::optional<std::string> name = pe.text_at(names[i]);
    const std::uint32_t index = ordinals[i];
    if (!name || index >= addresses.size()) {
      table.complete = false;
      continue;
    }
    named[index] = true;
    add(std::move(*name), index);
  }
  for (std::uint32_t index = 0; index < addresses.size() && !budget.spent(); ++index)
    if (!named[index] && addresses[index] != 0) add({}, index);
}

// Reads the imports from one library. Returns false if the table cannot be read to its end.
bool read_lookup_table(const PeFile& pe, const PeImportedLibrary& library, SymbolTable& table,
                       NameBudget& budget) {
  const std::uint64_t width = pe.wide ? 8 : 4;
  const std::uint64_t by_ordinal = std::uint64_t{1} << (pe.wide ? 63 : 31);
  for (std::uint64_t i = 0; i < symbol_limit; ++i) {
    Fields entry;
    if (!pe.fields_at(library.lookup_table + i * width, static_cast<std::size_t>(width), entry)) return false;
    std::uint64_t value = entry.word(0, pe.wide);
    if (value == 0) return true;
    Symbol symbol;
    symbol.library = library.name;
    symbol.delayed = library.delayed;
    if ((value & by_ordinal) != 0) {
      symbol.ordinal = static_cast<std::uint32_t>(value & 0xffff);
    } else {
      if (library.absolute) value -= pe.base;
      std::optional<std::string> name = pe.text_at(value + 2);  // after the hint
      if (!name) return false;
      symbol.name = std::move(*name);
    }
    if (!budget.take(symbol.name.size() + symbol.library.size())) return false;
    table.imports.push_back(std::move(symbol));
  }
  return false;
}

}  // namespace

Result<SymbolTable> read_pe_symbols(const PeFile& pe) {
  SymbolTable table;
  NameBudget budget;
  if (const std::optional<ExportDirectory> directory = export_directory(pe))
    read_exports(pe, *directory, table, budget);
  else if (pe.directory(PeDirectory::exports).address != 0)
    table.complete = false;
  std::vector<PeImportedLibrary> libraries;
  if (!read_imported_libraries(pe, libraries)) table.complete = false;
  for (const PeImportedLibrary& library : libraries)
    if (!read_lookup_table(pe, library, table, budget)) table.complete = false;
  if (!table.complete && table.exports.empty() && table.imports.empty())
    return fail(damaged(*pe.file, "the symbol table cannot be read to its end"));
  return table;
}

}  // namespace enginehost::binary
