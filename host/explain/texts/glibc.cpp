// glibc's texts (elf/dl-load.c, dl-open.c, dl-lookup.c, dl-version.c, dl-tls.c, dl-reloc.c, dl-machine.h).
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain::texts {
namespace {

// A file's path or name comes before each.
constexpr Phrase phrases[] = {
    {": wrong ELF class: ELFCLASS32", Code::library_of_other_word_size},
    {": wrong ELF class: ELFCLASS64", Code::library_of_other_word_size},
    {": invalid ELF header", Code::file_damaged},
    {": file too short", Code::file_too_short},
    {": cannot read file data: Is a directory", Code::path_leads_to_no_file},
    {": cannot read file data: Input/output error", Code::library_input_error},
    {": cannot read file data", Code::file_truncated},
    {": ELF load command past end of file",
     Code::file_truncated},  // glibc before 2.26; since then the process dies (SIGBUS)
    {": failed to map segment from shared object", Code::mounted_noexec},
    {": cannot map zero-fill pages", Code::memory_short_for_library},
    {": cannot create shared object descriptor", Code::memory_short_for_library},
    {": cannot allocate dependency list", Code::memory_short_for_library},
    {": cannot change memory protections", Code::security_policy_forbids},
    {": ELF file OS ABI invalid", Code::library_for_other_elf_system},
    {": ELF file ABI version invalid", Code::library_for_other_elf_system},
    {": ELF file version ident does not match current one", Code::library_for_other_elf_system},
    {": ELF file version does not match current one", Code::library_for_other_elf_system},
    {": ELF file data encoding not little-endian", Code::library_for_other_elf_system},
    {": ELF file data encoding not big-endian", Code::library_for_other_elf_system},
    {": only ET_DYN and ET_EXEC can be loaded", Code::not_a_shared_library},
    {": cannot dynamically load position-independent executable", Code::not_a_shared_library},
    {": cannot dynamically load executable", Code::not_a_shared_library},
    {": shared object cannot be dlopen()ed", Code::loading_forbidden_by_library},
    {": object file has no dynamic section", Code::file_not_mappable},
    {": object file has no loadable segments", Code::file_not_mappable},
    {": ELF load command address/offset not page-aligned", Code::file_not_mappable},
    {": ELF load command alignment not page-aligned", Code::file_not_mappable},
    {": ELF load command address/offset not properly aligned", Code::file_not_mappable},
    {": ELF file's phentsize not the expected size", Code::file_damaged},
    {": nonzero padding in e_ident", Code::file_damaged},
    {": unsupported version ", Code::file_damaged},
    {": unexpected reloc type 0x", Code::file_damaged},
    {": unexpected PLT reloc type 0x", Code::file_damaged},
    {": cannot allocate memory in static TLS block", Code::no_static_tls_left},
    {": cannot enable executable stack as shared object requires", Code::executable_stack_needed},
    {": cannot make segment writable for relocation", Code::text_relocations},
    {": cannot restore segment prot after reloc", Code::text_relocations},
    {": CPU ISA level is lower than required", Code::processor_too_old},
    {": DT_RELR without GLIBC_ABI_DT_RELR dependency", Code::packed_relocations},
    {": no more namespaces available for dlmopen()", Code::no_namespace_left},
    {": File name too long", Code::path_unusable_for_loader},
    {": Exec format error", Code::file_damaged},  // musl's text for a file that is no library
};

// Programs put a prefix before the loader's text ("ImportError: ", or in a JVM the file to open). The last
// part is the loader's subject; a path before it is the file that was being opened.
void take_subject(std::string_view before, LoaderHint& hint) {
  const std::size_t at = before.rfind(": ");
  hint.subject = std::string(at == std::string_view::npos ? before : before.substr(at + 2));
  if (at == std::string_view::npos) return;
  const std::string_view front = before.substr(0, at);
  const std::size_t begin = front.rfind(": ");
  const std::string_view opened = begin == std::string_view::npos ? front : front.substr(begin + 2);
  if (const std::size_t path = opened.starts_with('/') ? 0 : opened.find(" /");
      path != std::string_view::npos)
    hint.required_by = std::string(opened.substr(path == 0 ? 0 : path + 1));
}

// X: cannot open shared object file: REASON
std::optional<LoaderHint> cannot_open(std::string_view text) {
  constexpr std::string_view phrase = ": cannot open shared object file";
  if (!contains(text, phrase)) return std::nullopt;
  LoaderHint hint;
  take_subject(text.substr(0, text.find(phrase)), hint);
  const std::string reason = after(text, phrase);
  // A path is the file that was to be opened; a name is one that a file needs (or that was opened by name).
  hint.code = hint.subject.find('/') != std::string::npos ? Code::file_not_readable : Code::library_missing;
  constexpr Phrase reasons[] = {
      {": Permission denied", Code::library_not_readable},
      {": Operation not permitted", Code::security_policy_forbids},
      {": Too many open files", Code::library_input_error},
      {": Input/output error", Code::library_input_error},
      {": Cannot allocate memory", Code::memory_short_for_library},
      {": Too many levels of symbolic links", Code::path_leads_to_no_file},
      {": File name too long", Code::path_unusable_for_loader},
  };
  for (const Phrase& one : reasons)
    if (reason.starts_with(one.text)) hint.code = one.code;
  return hint;
}

Code class_of_version(std::string_view version) {
  if (version == "GLIBC_ABI_DT_RELR") return Code::packed_relocations;
  if (version.starts_with("GLIBC_")) return Code::c_library_too_old;
  if (version.starts_with("GLIBCXX_") || version.starts_with("CXXABI_")) return Code::cpp_runtime_too_old;
  // cuDNN 8 names its symbol versions after its parts.
  if (version.starts_with("libcudnn")) return Code::cudnn_parts_differ;
  return Code::symbol_version_missing;
}

// LIB: version `V' not found (required by BY)
std::optional<LoaderHint> version_missing(std::string_view text) {
  constexpr std::string_view phrase = ": version `", weak = ": weak version `";
  const std::string_view used = contains(text, weak) ? weak : phrase;
  const std::size_t at = text.find(used);
  if (at == std::string_view::npos || text.find("' not found", at) == std::string_view::npos)
    return std::nullopt;
  LoaderHint hint;
  take_subject(text.substr(0, at), hint);
  hint.version = until(text.substr(at + used.size()), "'");
  hint.required_by = between(text, "(required by ", ")");
  hint.code = class_of_version(hint.version);
  return hint;
}

// The driver's functions begin with cu and a capital letter; the runtime's with cuda.
bool of_the_driver(std::string_view symbol) {
  return symbol.size() > 2 && symbol.starts_with("cu") && symbol[2] >= 'A' && symbol[2] <= 'Z';
}
// Functions that programs export to their extensions: the file extends Node or Python and is not an engine.
bool of_a_host_program(std::string_view symbol) {
  return symbol.starts_with("napi_") || symbol.starts_with("node_api_") || symbol.starts_with("Py_") ||
         symbol.starts_with("PyObject_") || symbol.starts_with("PyExc_") || symbol.starts_with("PyModule_");
}

// LIB: undefined symbol: S(, version V)     LIB: symbol S, version V not defined in file F with link time
// reference
std::optional<LoaderHint> symbol_missing(std::string_view text) {
  LoaderHint hint;
  constexpr std::string_view undefined = ": undefined symbol: ", elsewhere = " not defined in file ";
  if (const std::size_t at = text.find(undefined); at != std::string_view::npos) {
    LoaderHint front;
    take_subject(text.substr(0, at), front);
    hint.required_by = front.subject;
    const std::string rest = until(after(text, undefined), "\n");
    hint.symbol = until(rest, ",");
    hint.version = after(rest, ", version ");
    hint.code = hint.version.empty() ? Code::symbol_missing : class_of_version(hint.version);
  } else if (contains(text, elsewhere) && contains(text, ": symbol ")) {
    hint.required_by = until(text, ": symbol ");
    const std::string rest = after(text, ": symbol ");
    hint.symbol = until(rest, ",");
    hint.version = until(after(rest, ", version "), elsewhere);
    hint.subject = until(after(rest, elsewhere), " with link time reference");
    hint.code = class_of_version(hint.version);
  } else {
    return std::nullopt;
  }
  // A missing versioned symbol means another build of that library, for any name of the version.
  if (hint.code == Code::c_library_too_old || hint.code == Code::packed_relocations)
    hint.code = Code::symbol_version_missing;
  if (of_the_driver(hint.symbol))
    hint.code = Code::driver_lacks_function;
  else if (hint.symbol == "engine_plugin_v1")
    hint.code = Code::not_an_engine_plugin;
  else if (of_a_host_program(hint.symbol))
    hint.code = Code::host_symbol_missing;
  return hint;
}

// X: PURPOSE OF THE MEMORY: Cannot allocate memory     out of memory
std::optional<LoaderHint> out_of_memory(std::string_view text) {
  LoaderHint hint{.code = Code::memory_short_for_library};
  // Names no library (elf/dl-exception.c, oom_exception).
  if (text == "out of memory") return hint;
  const std::size_t end = text.rfind(": Cannot allocate memory");
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t wanted = text.rfind(": cannot ", end - 1);
  if (end == 0 || wanted == std::string_view::npos) return std::nullopt;
  take_subject(text.substr(0, wanted), hint);
  return hint;
}

// ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (REASON): ignored.
std::optional<LoaderHint> bad_preload(std::string_view text) {
  if (!contains(text, "from LD_PRELOAD cannot be preloaded")) return std::nullopt;
  return LoaderHint{.code = Code::preload_not_loadable, .subject = between(text, "object '", "'")};
}

}  // namespace

std::optional<LoaderHint> read_glibc(std::string_view text) {
  if (auto hint = bad_preload(text)) return hint;
  if (auto hint = cannot_open(text)) return hint;
  if (auto hint = version_missing(text)) return hint;
  if (auto hint = symbol_missing(text)) return hint;
  if (auto hint = out_of_memory(text)) return hint;
  const Phrase* const known = find_phrase(text, phrases);
  if (known == nullptr) return std::nullopt;
  LoaderHint hint{.code = known->code};
  take_subject(text.substr(0, text.find(known->text)), hint);
  return hint;
}

}  // namespace enginehost::explain::texts
