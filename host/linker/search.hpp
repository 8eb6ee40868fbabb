// The places a loader looks at for one needing library, in its order.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct SearchPlace {
  enum class Kind { folder, cache };
  Kind kind = Kind::folder;
  std::string directory;     // absolute; of a cache: its file
  std::string rule;          // "RUNPATH", "LD_LIBRARY_PATH", "ld.so.cache", "default"
  std::string owner;         // the library whose path it is; "" = no library's
  bool compiled_in = false;  // one of the loader's own default folders

  std::string why() const;       // "RUNPATH of libfoo.so"
  std::string found_by() const;  // "RUNPATH of /a/libfoo.so"
  // The folders of one path are one list, and so are the default ones.
  bool same_list(const SearchPlace& other) const { return rule == other.rule && owner == other.owner; }
};

// A library in the role of the one that needs another: itself, those that brought it in, innermost first, and
// the program at the end.
struct Needer {
  std::string_view path;  // of a string that outlives it
  const binary::BinaryInfo* info = nullptr;
  bool is_program = false;
};

// Who says a path with tokens in it.
struct Speaker {
  std::string_view folder;  // $ORIGIN; "" = not known; of a string that outlives it
  bool is_program = false;  // of LD_LIBRARY_PATH too
};

// The folder of a file, as a part of its path: "/" of "/x", "." of a name alone.
std::string_view folder_of_file(std::string_view path);

// glibc 2.36 elf/dl-load.c, _dl_map_object: RPATH of the needer, of those that brought it in and of the
// program (only when the needer has no RUNPATH), LD_LIBRARY_PATH, the needer's RUNPATH ...
std::vector<SearchPlace> glibc_own_places(const Machine& machine, const std::vector<Needer>& chain);
// ... then for all alike ld.so.cache and the default folders (not those for a needer with DF_1_NODEFLIB).
std::vector<SearchPlace> glibc_shared_places(const Machine& machine);
// _dl_dst_substitute: $ORIGIN, $LIB and $PLATFORM, with braces or without, are replaced; what merely begins
// like one ("$ORIGINAL") stays as it is. Empty when the whole element is useless: a token has no value, or a
// program with raised rights may not use it.
std::string expand_tokens(const Machine& machine, std::string_view text, const Speaker& speaker);
// One element of a search path as glibc's fillin_rpath takes it, absolute; empty = it is left out.
std::string folder_of_element(const Machine& machine, const std::string& element, const Speaker& speaker);

// musl 1.2 ldso/dynlink.c, load_library: LD_LIBRARY_PATH, RUNPATH or RPATH (the same there) of the needer and
// of all that brought it in, the default folders. There are no hwcaps folders and no cache.
std::vector<SearchPlace> musl_places(const Machine& machine, const std::vector<Needer>& chain);
// musl serves these names itself: "libc.so.6" and "libpthread.so.0" never reach a search.
bool served_by_musl(std::string_view name);

}  // namespace enginehost::linker
