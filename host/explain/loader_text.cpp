#include "host/explain/loader_text.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace enginehost::explain {
namespace {

// One text of a loader and the class it most often means. `before` is what the text has in front: a file or
// name.
struct Phrase {
  std::string_view text, code;
};

// glibc 2.36 (elf/dl-load.c, dl-open.c, dl-lookup.c, dl-version.c, dl-tls.c); all of these were seen.
constexpr Phrase phrases[] = {
    {": wrong ELF class: ELFCLASS32", "EH-L06"},
    {": wrong ELF class: ELFCLASS64", "EH-L06"},
    {": invalid ELF header", "EH-F08"},
    {": file too short", "EH-F03"},
    {": cannot read file data: Is a directory", "EH-F11"},
    {": cannot read file data", "EH-F04"},
    {": failed to map segment from shared object", "EH-L22"},
    {": ELF file OS ABI invalid", "EH-L07"},
    {": ELF file ABI version invalid", "EH-L07"},
    {": ELF file data encoding not little-endian", "EH-L07"},
    {": only ET_DYN and ET_EXEC can be loaded", "EH-F10"},
    {": cannot dynamically load position-independent executable", "EH-F10"},
    {": cannot dynamically load executable", "EH-F10"},
    {": shared object cannot be dlopen()ed", "EH-F13"},
    {": object file has no dynamic section", "EH-F12"},
    {": object file has no loadable segments", "EH-F12"},
    {": ELF load command address/offset not page-aligned", "EH-F12"},
    {": cannot allocate memory in static TLS block", "EH-L19"},
    {": cannot enable executable stack as shared object requires", "EH-L20"},
    {": cannot make segment writable for relocation", "EH-L21"},
    {": cannot restore segment prot after reloc", "EH-L21"},
    {": CPU ISA level is lower than required", "EH-L27"},
    {": no more namespaces available for dlmopen()", "EH-L18"},
    {": File name too long", "EH-L33"},
    // musl 1.2.3 (ldso/dynlink.c)
    {"initial-exec TLS resolves to dynamic definition", "EH-L29"},
    {": Exec format error", "EH-F08"},
    {"Dynamic loading not supported", "EH-L29"},
};

std::string until(std::string_view text, std::string_view end) {
  return std::string(text.substr(0, text.find(end)));
}

std::string after(std::string_view text, std::string_view begin) {
  const std::size_t at = text.find(begin);
  return at == std::string_view::npos ? std::string() : std::string(text.substr(at + begin.size()));
}

// X: cannot open shared object file: REASON
std::optional<LoaderHint> cannot_open(std::string_view text) {
  constexpr std::string_view phrase = ": cannot open shared object file: ";
  if (text.find(phrase) == std::string_view::npos) return std::nullopt;
  LoaderHint hint;
  hint.subject = until(text, phrase);
  const std::string reason = after(text, phrase);
  const bool itself = hint.subject.starts_with('/');
  hint.code = itself ? "EH-F01" : "EH-L01";
  if (reason.starts_with("Permission denied")) hint.code = "EH-L25";
  if (reason.starts_with("Operation not permitted")) hint.code = "EH-L24";
  if (reason.starts_with("Too many open files") || reason.starts_with("Input/output error"))
    hint.code = "EH-L26";
  if (reason.starts_with("Too many levels of symbolic links")) hint.code = "EH-F11";
  if (reason.starts_with("File name too long")) hint.code = "EH-L33";
  return hint;
}

// LIB: version `V' not found (required by BY)
std::optional<LoaderHint> version_missing(std::string_view text) {
  constexpr std::string_view phrase = ": version `";
  const std::size_t at = text.find(phrase);
  if (at == std::string_view::npos || text.find("' not found", at) == std::string_view::npos)
    return std::nullopt;
  LoaderHint hint;
  hint.subject = until(text, phrase);
  hint.version = until(text.substr(at + phrase.size()), "'");
  hint.required_by = until(after(text, "(required by "), ")");
  hint.code = hint.version == "GLIBC_ABI_DT_RELR"                                           ? "EH-L10"
              : hint.version.starts_with("GLIBC_")                                          ? "EH-L08"
              : hint.version.starts_with("GLIBCXX_") || hint.version.starts_with("CXXABI_") ? "EH-L09"
                                                                                            : "EH-L15";
  return hint;
}

// LIB: undefined symbol: S(, version V)     LIB: symbol S, version V not defined in file F with link time
// reference
std::optional<LoaderHint> symbol_missing(std::string_view text) {
  LoaderHint hint;
  constexpr std::string_view undefined = ": undefined symbol: ", elsewhere = " not defined in file ";
  if (text.find(undefined) != std::string_view::npos) {
    hint.required_by = until(text, undefined);
    const std::string rest = after(text, undefined);
    hint.symbol = until(rest, ",");
    hint.version = after(rest, ", version ");
    hint.code = hint.version.empty() ? "EH-L12" : "EH-L15";
  } else if (text.find(elsewhere) != std::string_view::npos &&
             text.find(": symbol ") != std::string_view::npos) {
    hint.required_by = until(text, ": symbol ");
    const std::string rest = after(text, ": symbol ");
    hint.symbol = until(rest, ",");
    hint.version = until(after(rest, ", version "), elsewhere);
    hint.subject = until(after(rest, elsewhere), " with link time reference");
    hint.code = "EH-L15";
  } else {
    return std::nullopt;
  }
  // The driver API's functions begin with cu and a capital letter; the runtime's with cuda.
  if (hint.symbol.size() > 2 && hint.symbol.starts_with("cu") && hint.symbol[2] >= 'A' &&
      hint.symbol[2] <= 'Z')
    hint.code = "EH-G04";
  return hint;
}

std::optional<LoaderHint> musl(std::string_view text) {
  LoaderHint hint;
  if (constexpr std::string_view begin = "Error loading shared library "; text.starts_with(begin)) {
    hint.subject = until(text.substr(begin.size()), ": ");
    hint.required_by = until(after(text, "(needed by "), ")");
    hint.code = text.find("Exec format error") != std::string_view::npos ? "EH-F08"
                : hint.subject.starts_with('/')                          ? "EH-F01"
                                                                         : "EH-L01";
    return hint;
  }
  if (constexpr std::string_view begin = "Error relocating ";
      text.starts_with(begin) && text.find("symbol not found") != std::string_view::npos) {
    hint.required_by = until(text.substr(begin.size()), ": ");
    hint.symbol = until(after(text.substr(begin.size()), ": "), ": symbol not found");
    hint.code = "EH-L12";
    return hint;
  }
  return std::nullopt;
}

// cuDNN: Could not load library libX. Error: …    Invalid handle. Cannot load symbol …    Unable to load any
// of {…}
std::optional<LoaderHint> cudnn(std::string_view line) {
  LoaderHint hint;
  hint.code = "EH-R15";
  if (line.find("Could not load library ") != std::string_view::npos)
    hint.subject = until(after(line, "Could not load library "), ". Error");
  else if (line.find("Unable to load any of {") != std::string_view::npos)
    hint.subject = until(until(after(line, "Unable to load any of {"), "}"), ",");
  else if (line.find("Cannot load symbol cudnn") != std::string_view::npos)
    hint.symbol = until(after(line, "Cannot load symbol "), " ");
  else
    return std::nullopt;
  return hint;
}

}  // namespace

std::optional<LoaderHint> read_loader_text(std::string_view text) {
  text = trim(text);
  if (auto hint = musl(text)) return hint;
  if (auto hint = cannot_open(text)) return hint;
  if (auto hint = version_missing(text)) return hint;
  if (auto hint = symbol_missing(text)) return hint;
  for (const Phrase& phrase : phrases)
    if (text.find(phrase.text) != std::string_view::npos) {
      LoaderHint hint;
      hint.code = phrase.code;
      hint.subject = until(text, phrase.text);
      return hint;
    }
  return std::nullopt;
}

std::optional<LoaderHint> read_error_output(std::string_view text) {
  std::optional<LoaderHint> found;
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    constexpr std::string_view lookup = ": symbol lookup error: ",
                               thrown = "terminate called after throwing an instance";
    if (const std::size_t at = line.find(lookup); at != std::string::npos) {
      found = read_loader_text(std::string_view(line).substr(at + lookup.size()));
      if (found) found->code = "EH-L13";
    } else if (line.find("Inconsistency detected by ld.so") != std::string::npos) {
      found.emplace();
      found->code = "EH-F08";
    } else if (line.find(thrown) != std::string::npos) {
      found.emplace();
      found->code = "EH-R03";
      found->exception = until(after(line, " of '"), "'");
      if (i + 1 < lines.size() && lines[i + 1].find("what():  ") != std::string::npos)
        found->what = after(lines[i + 1], "what():  ");
    } else if (auto hint = cudnn(line)) {
      found = std::move(hint);
    }
  }
  return found;
}

Diagnosis to_diagnosis(const LoaderHint& hint, std::string_view text) {
  Diagnosis diagnosis = diagnose(hint.code);
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) diagnosis.with(key, value, "the loader's text");
  };
  const bool is_library = hint.code == "EH-L01" || hint.code == "EH-R15" || !hint.version.empty();
  add(is_library && !hint.subject.starts_with('/') ? "library"
      : hint.version.empty()                       ? "file"
                                                   : "path",
      hint.subject);
  add("symbol", hint.symbol);
  add("version", hint.version);
  add("required_by", hint.required_by);
  add("exception", hint.exception);
  add("what", hint.what);
  diagnosis.with("os_said", trim(text));
  return diagnosis;
}

}  // namespace enginehost::explain
