// System-specific functions for engines. They need only the system's C library.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace enginehost::engines {

// Allocates memory aligned for vector instructions and cache lines; `size` is a multiple of 64. nullptr when
// memory is exhausted. Free it only with free_aligned.
inline void* allocate_aligned(std::size_t size);
inline void free_aligned(void* block);

// Opens a file with a UTF-8 name for reading bytes; children do not inherit it. nullptr and errno on failure.
inline std::FILE* open_for_reading(const char* path);

// Returns the machine's memory in bytes; unknown values stay unchanged.
inline void ask_memory(std::uint64_t& total, std::uint64_t& free);

}  // namespace enginehost::engines

#ifdef _WIN32
#include "engines/support/windows/system.hpp"
#else
#include "engines/support/posix/system.hpp"
#endif
