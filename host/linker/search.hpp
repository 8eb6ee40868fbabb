// The places that a loader searches for one library, in its order.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct SearchPlace {
  enum class Kind { folder, cache };
  Kind kind = Kind::folder;
  std::string directory;     // absolute; for a cache: its file
  std::string rule;          // "RUNPATH", "LD_LIBRARY_PATH", "ld.so.cache", "default"
  std::string owner;         // the library whose path it is; "" = none
  bool compiled_in = false;  // one of the loader's default folders

  std::string why() const;       // "RUNPATH of libfoo.so"
  std::string found_by() const;  // "RUNPATH of /a/libfoo.so"
  // The folders of one path form one list, and so do the default ones.
  bool same_list(const SearchPlace& other) const { return rule == other.rule && owner == other.owner; }
};

// A library that needs another, as a chain: itself, those that brought it in, innermost first, and finally
// the program.
struct Needer {
  std::string_view path;  // view of a string that outlives it
  const binary::BinaryInfo* info = nullptr;
  bool is_program = false;
};

// The owner of a path with tokens.
struct Speaker {
  std::string_view folder;  // $ORIGIN; "" = unknown; view of a string that outlives it
  bool is_program = false;  // also true for LD_LIBRARY_PATH
};

// Returns the folder part of a file's path: "/" for "/x", "." for a plain name.
std::string_view folder_of_file(std::string_view path);

// Returns the places specific to a library (glibc 2.36 elf/dl-load.c, _dl_map_object): RPATH of the needer,
// of those that brought it in and of the program (only if the needer has no RUNPATH), LD_LIBRARY_PATH, the
// needer's RUNPATH.
std::vector<SearchPlace> glibc_own_places(const Machine& machine, const std::vector<Needer>& chain);
// Returns the places that follow for all libraries: ld.so.cache and the default folders (not for a needer
// with DF_1_NODEFLIB).
std::vector<SearchPlace> glibc_shared_places(const Machine& machine);
// Expands $ORIGIN, $LIB and $PLATFORM, with or without braces (_dl_dst_substitute). A text that merely begins
// like a token ("$ORIGINAL") stays. Returns an empty text if the whole element is unusable: a token has no
// value, or a program with raised rights may not use it.
std::string expand_tokens(const Machine& machine, std::string_view text, const Speaker& speaker);
// Returns one element of a search path as glibc's fillin_rpath takes it, absolute; empty = left out.
std::string folder_of_element(const Machine& machine, const std::string& element, const Speaker& speaker);

// Returns the places that musl searches (musl 1.2 ldso/dynlink.c, load_library): LD_LIBRARY_PATH, RUNPATH or
// RPATH (the same for musl) of the needer and of all that brought it in, the default folders. There are no
// hwcaps folders and no cache.
std::vector<SearchPlace> musl_places(const Machine& machine, const std::vector<Needer>& chain);
// Returns true for names that musl provides itself: "libc.so.6" and "libpthread.so.0" are never searched for.
bool served_by_musl(std::string_view name);

}  // namespace enginehost::linker
