// See engines/support/system.hpp.
#pragma once
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace enginehost::engines {

inline void* allocate_aligned(std::size_t size) { return ::_aligned_malloc(size, 64); }
inline void free_aligned(void* block) { ::_aligned_free(block); }

// fopen expects names in the machine's code page. Paths of the cache are shorter than this buffer.
inline std::FILE* open_for_reading(const char* path) {
  wchar_t wide[4096];
  if (::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, 4096) == 0) {
    errno = EINVAL;
    return nullptr;
  }
  return ::_wfopen(wide, L"rbN");
}

inline void ask_memory(std::uint64_t& total, std::uint64_t& free) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (::GlobalMemoryStatusEx(&status) == 0) return;
  total = status.ullTotalPhys;
  free = status.ullAvailPhys;
}

}  // namespace enginehost::engines
