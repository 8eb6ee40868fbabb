// Libraries of this process, compared with those of a build by their exports, whatever their files are
// called.
//
// glibc keeps one object of each unique symbol (STB_GNU_UNIQUE) for all libraries of a process, also for
// those that nobody shall see (RTLD_LOCAL). A second copy of a C++ library therefore works on the first one's
// objects. If it also registers things in them while it is loaded, as libtorch does, it ends the process.
//
// Thread safety: any thread; no library is loaded or unloaded meanwhile. Errors: none.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Returns the libraries that another process need not have: all but those of the system, the C and C++
// runtime and EngineHost's own. A library in a system folder counts if it may have unique symbols.
std::vector<LoadedLibrary> foreign_libraries();

// Returns true if one of them may share objects with a library of a build. Takes no system call. False where
// loaders know no unique symbols: musl, macOS, Windows.
bool may_share_objects();

// A foreign library that is the same library as another file, of this release or of another one.
struct LoadedCopy {
  std::string soname;
  std::filesystem::path path;
  std::string shared;   // a unique symbol that both have; empty: none
  std::string differs;  // a symbol that one of them lacks, or has in another version or size; empty: none
};

// Returns the foreign libraries that share unique symbols with the library and export at least a quarter of
// its symbols, or that have its SONAME. Symbols of the C++ standard library do not count as shared.
// `symbols`: of the library's file.
std::vector<LoadedCopy> loaded_copies(const std::string& soname, const binary::SymbolTable& symbols);

}  // namespace enginehost::linker
