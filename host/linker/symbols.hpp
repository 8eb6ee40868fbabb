// The symbol pass: symbols that would stay undefined once the whole closure is loaded (L12, L14, L15, L16).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct UndefinedSymbol {
  std::string name;
  std::string version;         // "" = unversioned
  std::string library;         // the library its version was linked against; "" = any
  std::string required_by;     // path
  bool other_version = false;  // the closure exports the name, but in no suitable version (EH-L15)
  bool variable = false;       // it was a variable at link time (EH-L14)
  std::string lent_by;         // doubtful: path of the library of this process that exports it
  bool likely = false;         // `library` follows from the names of its other symbols alone
};

struct SymbolFindings {
  // In load order. Weak symbols are not listed, nor symbols that a missing, refused or unreadable library may
  // export.
  std::vector<UndefinedSymbol> undefined;
  // Symbols that only a library exports which the process loaded and did not preload. They are bound to it if
  // the program was linked with it or opened it with RTLD_GLOBAL, and undefined if it was opened with
  // RTLD_LOCAL, as Python opens its modules. Neither dlinfo nor the link map shows which.
  std::vector<UndefinedSymbol> doubtful;
  std::size_t checked = 0;  // imports looked up
};

// Looks up every import as the loader would: first among the exports of the opened library and its
// dependencies (the loader of EngineHost opens each library RTLD_LOCAL) and of preloaded libraries, then
// among the other libraries already loaded. glibc compares versions. musl compares only the name, and ignores
// definitions with a hidden version (musl 1.2 ldso/dynlink.c, find_sym).
//
// Only objects under `only_below` (a folder; empty = all) have their imports checked, because the system's
// own libraries are assumed to be complete. Takes some 10 ms for a large engine.
SymbolFindings undefined_symbols(const Closure& closure, Reader& reader,
                                 const std::filesystem::path& only_below = {});

// Returns the program whose extensions use such names: its executable exports them (the C interfaces of
// Node-API, Python, R, Lua and others). Empty for other names.
std::string_view offered_by_program(std::string_view name);

// Returns diagnoses for `undefined` or `doubtful` (then with lent_by), one per library and code: EH-L12
// (symbol..., required_by); EH-L14 for variables; EH-L15 (symbol..., version, library, required_by) for
// versioned symbols; EH-L16 (and program) for symbols that Node, Python, R or Lua export to their extensions.
std::vector<Diagnosis> diagnose_symbols(const std::vector<UndefinedSymbol>& symbols);

}  // namespace enginehost::linker
