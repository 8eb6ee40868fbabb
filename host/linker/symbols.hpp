// The symbol pass: which symbols would stay undefined once the whole closure is loaded (L12, L14, L15, L16).
#pragma once
#include <string>
#include <unordered_map>
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
  bool variable = false;       // it was one where it was linked (EH-L14)
  std::string lent_by;         // doubtful: path of the library of this process that offers it
};

// Symbol tables, read once each however many closures hold the file. Belongs to one thread.
class SymbolTables {
 public:
  // The reference lives as long as the object.
  const Result<binary::SymbolTable>& read(const std::filesystem::path& file);

 private:
  std::unordered_map<std::string, Result<binary::SymbolTable>> tables_;
};

struct SymbolFindings {
  // In load order; weak ones are not listed, nor those that a library which is missing, refused or not to be
  // read may offer.
  std::vector<UndefinedSymbol> undefined;
  // Found in no library of their own, but in one that the process holds already: bound to that one if the
  // program was linked with it or opened it with RTLD_GLOBAL, and undefined if it was opened RTLD_LOCAL, as
  // Python opens its modules. Neither dlinfo nor the link map tells which.
  std::vector<UndefinedSymbol> doubtful;
  std::vector<std::string> unread;  // libraries whose symbol table could not be followed
  std::size_t checked = 0;          // imports looked up
};

// Looks every import up where the loader would: among the exports of the library that was opened and of all
// that it brought in (each library our loader opens by itself is RTLD_LOCAL), then of what the machine has
// loaded already. glibc compares versions; musl looks for the name alone, and never sees a definition whose
// version is hidden (musl 1.2 ldso/dynlink.c, find_sym). Only objects under `only_below` (a folder; empty =
// all) have their imports checked: the system's own libraries are taken to be whole. `exported_by_host` are
// symbols the program brings. `tables` keeps what was read for the next call; without it each table is read
// again. Some 10 ms for a large engine.
SymbolFindings undefined_symbols(const Closure& closure, Reader& reader,
                                 const std::filesystem::path& only_below = {},
                                 const std::vector<std::string>& exported_by_host = {},
                                 SymbolTables* tables = nullptr);

// Of `undefined` or of `doubtful` (then with lent_by): EH-L12 (symbol..., required_by), EH-L14 for variables,
// EH-L15 (symbol..., version, library, required_by) where a version is asked for, EH-L16 (and program) where
// the symbols are those that Node, Python, R or Lua offer their extensions: one diagnosis a library and code.
std::vector<Diagnosis> diagnose_symbols(const std::vector<UndefinedSymbol>& symbols);

}  // namespace enginehost::linker
