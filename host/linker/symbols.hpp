// The symbol pass: which symbols would stay undefined once the whole closure is loaded (L12, L14, L15).
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct UndefinedSymbol {
  std::string name;
  std::string version;         // "" = unversioned
  std::string library;         // the library its version was linked against; "" = any
  std::string required_by;     // path
  bool other_version = false;  // the closure exports the name, but in no version that would do (EH-L15)
  bool variable = false;       // what it was linked against was a variable (EH-L14)
};

struct SymbolFindings {
  std::vector<UndefinedSymbol> undefined;  // in load order; weak ones are not listed
  std::vector<std::string>
      unread;               // libraries whose symbol table could not be followed: the list may be long
  std::size_t checked = 0;  // imports looked up
};

// Looks every import of the closure's libraries up among the exports of the whole closure, which begins with
// what the machine has loaded already. Only objects under `only_below` (a folder; empty = all) have their
// imports checked: the system's own libraries are taken to be whole. `exported_by_host` are symbols the
// program brings. Several 10 ms for a large engine.
SymbolFindings undefined_symbols(const Closure& closure, Reader& reader,
                                 const std::filesystem::path& only_below = {},
                                 const std::vector<std::string>& exported_by_host = {});

// EH-L12 (symbol..., required_by), EH-L14 for variables, EH-L15 (symbol..., version, library, required_by)
// where a version is asked for, EH-L16 (and program) where the symbols are those that Node, Python, R or Lua
// offer their extensions: one diagnosis a library and code.
std::vector<Diagnosis> diagnose_symbols(const SymbolFindings& findings);

}  // namespace enginehost::linker
