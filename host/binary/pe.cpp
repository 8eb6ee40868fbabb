#include "host/binary/formats.hpp"

#include "host/binary/pe_file.hpp"

namespace enginehost::binary {
namespace {

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
    info.pe.fill().dependent_load_flags = head.u16(0);
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
  info.pe.fill().bound_imports = pe.directory(PeDirectory::bound_imports).address != 0;
  info.pe.fill().managed = pe.directory(PeDirectory::managed_code).address != 0;
  info.pe.fill().has_resources = pe.directory(PeDirectory::resources).address != 0;
}

}  // namespace enginehost::binary
