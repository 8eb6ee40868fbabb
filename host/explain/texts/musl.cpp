// musl's texts (ldso/dynlink.c of 1.2.3).
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain::texts {
namespace {

// Error loading shared library X: REASON( (needed by BY))
std::optional<LoaderHint> cannot_load(std::string_view text) {
  constexpr std::string_view begin = "Error loading shared library ";
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + begin.size());
  LoaderHint hint;
  hint.subject = until(rest, ": ");
  hint.required_by = between(rest, "(needed by ", ")");
  constexpr Phrase reasons[] = {
      // musl's text for a page of text, an empty and a cut file and one of another word size.
      {"Exec format error", "EH-F08"},
      {"Permission denied", "EH-L25"},
      {"No file descriptors available", "EH-L26"},
      {"Out of memory", "EH-L23"},
  };
  if (const Phrase* const known = find_phrase(rest, reasons))
    hint.code = known->code;
  else if (hint.subject.starts_with("ld-linux-") || hint.subject == "libc.so.6")
    hint.code = "EH-L29";
  else
    hint.code = hint.subject.starts_with('/') ? "EH-F01" : "EH-L01";
  return hint;
}

// Functions that only the GNU C library has.
bool of_glibc(std::string_view symbol) {
  return symbol == "gnu_get_libc_version" || symbol.starts_with("__libc_") || symbol.ends_with("_chk") ||
         symbol == "__register_atfork" || symbol == "__strdup" || symbol == "__isoc23_strtol";
}

// Error relocating X: S: symbol not found
std::optional<LoaderHint> cannot_relocate(std::string_view text) {
  const std::string rest = after(text, "Error relocating ");
  const std::string file = until(rest, ": ");
  if (contains(rest, "symbol not found")) {
    const std::string symbol = between(rest, ": ", ": symbol not found");
    return LoaderHint{.code = of_glibc(symbol) ? "EH-L29" : "EH-L12", .symbol = symbol, .required_by = file};
  }
  if (contains(rest, "RELRO protection failed"))
    return LoaderHint{.code = contains(rest, "Out of memory") ? "EH-L23" : "EH-L24", .required_by = file};
  if (contains(text, "initial-exec TLS resolves to dynamic definition"))
    return LoaderHint{
        .code = "EH-L29", .subject = after(text, "dynamic definition in "), .required_by = file};
  return std::nullopt;
}

}  // namespace

std::optional<LoaderHint> read_musl(std::string_view text) {
  if (auto hint = cannot_load(text)) return hint;
  if (auto hint = cannot_relocate(text)) return hint;
  if (contains(text, "Dynamic loading not supported")) return LoaderHint{.code = "EH-L29"};
  return std::nullopt;
}

}  // namespace enginehost::explain::texts
