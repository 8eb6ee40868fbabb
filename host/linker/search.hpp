// The places a loader looks at for one needing library, in its order.
#pragma once
#include <string>
#include <vector>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct Place {
  enum class Kind { folder, cache };
  Kind kind = Kind::folder;
  std::string directory;     // absolute; of a cache: its file
  std::string why;           // "RUNPATH of libfoo.so"
  std::string found_by;      // "RUNPATH of /a/libfoo.so"
  bool compiled_in = false;  // one of the loader's own default folders
};

// A library in the role of the one that needs another: itself, and those that brought it in, innermost first.
struct Needer {
  std::string path;
  const binary::BinaryInfo* info = nullptr;
};

// glibc 2.36 elf/dl-load.c, _dl_map_object: RPATH of the needer and of those that brought it in (only when
// the needer has no RUNPATH), LD_LIBRARY_PATH, the needer's RUNPATH ...
std::vector<Place> glibc_own_places(const Machine& machine, const std::vector<Needer>& chain);
// ... then for all alike ld.so.cache and the default folders (not those for a needer with DF_1_NODEFLIB).
std::vector<Place> glibc_shared_places(const Machine& machine);
// Empty when the whole element is useless (an unknown token). `origin` is the folder of the library that says
// it.
std::string expand_tokens(const Machine& machine, std::string_view text, std::string_view origin);

// musl 1.2 ldso/dynlink.c, load_library: LD_LIBRARY_PATH, RUNPATH or RPATH (the same there) of the needer and
// of all that brought it in, the default folders. There are no hwcaps folders and no cache.
std::vector<Place> musl_places(const Machine& machine, const std::vector<Needer>& chain);
// musl serves these names itself: "libc.so.6" and "libpthread.so.0" never reach a search.
bool served_by_musl(std::string_view name);

}  // namespace enginehost::linker
