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
      {"Exec format error", Code::file_damaged},
      {"Permission denied", Code::library_not_readable},
      {"No file descriptors available", Code::library_input_error},
      {"Out of memory", Code::memory_short_for_library},
  };
  if (const Phrase* const known = find_phrase(rest, reasons))
    hint.code = known->code;
  else if (hint.subject.starts_with("ld-linux-") || hint.subject == "libc.so.6")
    hint.code = Code::built_for_glibc;
  else
    hint.code = hint.subject.starts_with('/') ? Code::file_not_readable : Code::library_missing;
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
    return LoaderHint{.code = of_glibc(symbol) ? Code::built_for_glibc : Code::symbol_missing,
                      .symbol = symbol,
                      .required_by = file};
  }
  if (contains(rest, "RELRO protection failed"))
    return LoaderHint{.code = contains(rest, "Out of memory") ? Code::memory_short_for_library
                                                              : Code::security_policy_forbids,
                      .required_by = file};
  if (contains(text, "initial-exec TLS resolves to dynamic definition"))
    return LoaderHint{
        .code = Code::built_for_glibc, .subject = after(text, "dynamic definition in "), .required_by = file};
  return std::nullopt;
}

}  // namespace

std::optional<LoaderHint> read_musl(std::string_view text) {
  if (auto hint = cannot_load(text)) return hint;
  if (auto hint = cannot_relocate(text)) return hint;
  if (contains(text, "Dynamic loading not supported")) return LoaderHint{.code = Code::built_for_glibc};
  return std::nullopt;
}

}  // namespace enginehost::explain::texts
