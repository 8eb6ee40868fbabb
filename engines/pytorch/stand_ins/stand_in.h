// Common parts of the stand-ins: the mark by which EngineHost knows them, and writing without the C library.
#pragma once
#include <stddef.h>

// Functions that do nothing use few of their parameters.
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <stdint.h>

// An ELF note of type 1 and name "EngineHost" (host/binary reads it). A file with it is no library of
// NVIDIA's, whatever its name is.
struct StandInNote {
  uint32_t name_size, text_size, type;
  char name[12], text[12];
};
__attribute__((section(".note.EngineHost"), used,
               aligned(4))) static const struct StandInNote enginehost_note = {11, 9, 1, "EngineHost",
                                                                               "stand-in"};

// Volatile, because a compiler would call memset() for the loop, and a stand-in needs no other library.
static inline void fill_with_zeros(void* memory, size_t size) {
  volatile unsigned char* const bytes = memory;
  for (size_t i = 0; i < size; ++i) bytes[i] = 0;
}
