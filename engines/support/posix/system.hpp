// See engines/support/system.hpp.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace enginehost::engines {

inline void* allocate_aligned(std::size_t size) { return std::aligned_alloc(64, size); }
inline void free_aligned(void* block) { std::free(block); }

inline std::FILE* open_for_reading(const char* path) { return std::fopen(path, "rbe"); }

inline void ask_memory([[maybe_unused]] std::uint64_t& total, [[maybe_unused]] std::uint64_t& free) {
#if defined(_SC_PHYS_PAGES) && defined(_SC_AVPHYS_PAGES)
  const long page = sysconf(_SC_PAGESIZE), all = sysconf(_SC_PHYS_PAGES), unused = sysconf(_SC_AVPHYS_PAGES);
  if (page > 0 && all > 0) total = static_cast<std::uint64_t>(page) * static_cast<std::uint64_t>(all);
  if (page > 0 && unused > 0) free = static_cast<std::uint64_t>(page) * static_cast<std::uint64_t>(unused);
#endif
}

}  // namespace enginehost::engines
