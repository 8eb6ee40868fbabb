// glibc's texts (elf/dl-load.c, dl-open.c, dl-lookup.c, dl-version.c, dl-tls.c, dl-reloc.c, dl-machine.h).
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain::texts {
namespace {

// A file's path or name comes before each.
constexpr Phrase phrases[] = {
    {": wrong ELF class: ELFCLASS32", "EH-L06"},
    {": wrong ELF class: ELFCLASS64", "EH-L06"},
    {": invalid ELF header", "EH-F08"},
    {": file too short", "EH-F03"},
    {": cannot read file data: Is a directory", "EH-F11"},
    {": cannot read file data: Input/output error", "EH-L26"},
    {": cannot read file data", "EH-F04"},
    {": ELF load command past end of file",
     "EH-F04"},  // glibc before 2.26; since then the process dies (SIGBUS)
    {": failed to map segment from shared object", "EH-L22"},
    {": cannot map zero-fill pages", "EH-L23"},
    {": cannot create shared object descriptor", "EH-L23"},
    {": cannot allocate dependency list", "EH-L23"},
    {": cannot change memory protections", "EH-L24"},
    {": ELF file OS ABI invalid", "EH-L07"},
    {": ELF file ABI version invalid", "EH-L07"},
    {": ELF file version ident does not match current one", "EH-L07"},
    {": ELF file version does not match current one", "EH-L07"},
    {": ELF file data encoding not little-endian", "EH-L07"},
    {": ELF file data encoding not big-endian", "EH-L07"},
    {": only ET_DYN and ET_EXEC can be loaded", "EH-F10"},
    {": cannot dynamically load position-independent executable", "EH-F10"},
    {": cannot dynamically load executable", "EH-F10"},
    {": shared object cannot be dlopen()ed", "EH-F13"},
    {": object file has no dynamic section", "EH-F12"},
    {": object file has no loadable segments", "EH-F12"},
    {": ELF load command address/offset not page-aligned", "EH-F12"},
    {": ELF load command alignment not page-aligned", "EH-F12"},
    {": ELF load command address/offset not properly aligned", "EH-F12"},
    {": ELF file's phentsize not the expected size", "EH-F08"},
    {": nonzero padding in e_ident", "EH-F08"},
    {": unsupported version ", "EH-F08"},
    {": unexpected reloc type 0x", "EH-F08"},
    {": unexpected PLT reloc type 0x", "EH-F08"},
    {": cannot allocate memory in static TLS block", "EH-L19"},
    {": cannot enable executable stack as shared object requires", "EH-L20"},
    {": cannot make segment writable for relocation", "EH-L21"},
    {": cannot restore segment prot after reloc", "EH-L21"},
    {": CPU ISA level is lower than required", "EH-L27"},
    {": DT_RELR without GLIBC_ABI_DT_RELR dependency", "EH-L10"},
    {": no more namespaces available for dlmopen()", "EH-L18"},
    {": File name too long", "EH-L33"},
    {": Exec format error", "EH-F08"},  // musl's text for a file that is no library
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
  hint.code = hint.subject.find('/') != std::string::npos ? "EH-F01" : "EH-L01";
  constexpr Phrase reasons[] = {
      {": Permission denied", "EH-L25"},      {": Operation not permitted", "EH-L24"},
      {": Too many open files", "EH-L26"},    {": Input/output error", "EH-L26"},
      {": Cannot allocate memory", "EH-L23"}, {": Too many levels of symbolic links", "EH-F11"},
      {": File name too long", "EH-L33"},
  };
  for (const Phrase& one : reasons)
    if (reason.starts_with(one.text)) hint.code = one.code;
  return hint;
}

std::string_view class_of_version(std::string_view version) {
  if (version == "GLIBC_ABI_DT_RELR") return "EH-L10";
  if (version.starts_with("GLIBC_")) return "EH-L08";
  if (version.starts_with("GLIBCXX_") || version.starts_with("CXXABI_")) return "EH-L09";
  // cuDNN 8 names its symbol versions after its parts.
  if (version.starts_with("libcudnn")) return "EH-R16";
  return "EH-L15";
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
    hint.code = hint.version.empty() ? "EH-L12" : class_of_version(hint.version);
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
  if (hint.code == "EH-L08" || hint.code == "EH-L10") hint.code = "EH-L15";
  if (of_the_driver(hint.symbol))
    hint.code = "EH-G04";
  else if (hint.symbol == "engine_plugin_v1")
    hint.code = "EH-R11";
  else if (of_a_host_program(hint.symbol))
    hint.code = "EH-L16";
  return hint;
}

// X: PURPOSE OF THE MEMORY: Cannot allocate memory     out of memory
std::optional<LoaderHint> out_of_memory(std::string_view text) {
  LoaderHint hint{.code = "EH-L23"};
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
  return LoaderHint{.code = "EH-L34", .subject = between(text, "object '", "'")};
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
  LoaderHint hint{.code = std::string(known->code)};
  take_subject(text.substr(0, text.find(known->text)), hint);
  return hint;
}

}  // namespace enginehost::explain::texts
