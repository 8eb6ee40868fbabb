// What engines ask of the system that each has in its own way. Nothing but its C library is needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace enginehost::engines {

// Memory at an address that suits vector instructions and the caches' lines; `size` is a multiple of 64.
// nullptr when memory is out. Given back with free_aligned only.
inline void* allocate_aligned(std::size_t size);
inline void free_aligned(void* block);

// The file of that name in UTF-8, for reading bytes, not inherited by children; nullptr and errno otherwise.
inline std::FILE* open_for_reading(const char* path);

// Of the machine, in bytes; what is not known stays as it is.
inline void ask_memory(std::uint64_t& total, std::uint64_t& free);

}  // namespace enginehost::engines

#ifdef _WIN32
#include "engines/support/windows/system.hpp"
#else
#include "engines/support/posix/system.hpp"
#endif
