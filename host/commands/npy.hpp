// Reading and writing .npy files (NumPy's array format, versions 1.0 to 3.0: numpy/lib/format.py).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <enginehost/engine_plugin.h>

#include "base/result.hpp"

namespace enginehost::commands {

// An array in host memory, row-major and compact, aligned to 64 bytes.
struct Array {
  engine_dtype type{};
  std::vector<std::int64_t> shape;
  std::vector<char> storage;  // the bytes, preceded by up to 63 bytes of padding
  std::size_t offset = 0;     // of the first aligned byte in storage

  char* data() { return storage.data() + offset; }
  const char* data() const { return storage.data() + offset; }
  std::size_t bytes() const { return storage.size() - 64; }
};

// Returns an array of zeros of that type and shape.
Array make_array(engine_dtype type, std::vector<std::int64_t> shape);

// Reads an array; other byte orders and column-major arrays are converted. Reads no more bytes than the
// header announces. Errors: EH-P47: there is no such file. EH-P30 ("file", "problem"): it is not an .npy
// file, or of a kind that is not supported. EH-P51 ("file"): there is not enough memory.
Result<Array> read_npy(const std::filesystem::path& file);

// Writes version 1.0 and replaces the file atomically. Errors: EH-P30 for a type without a name in .npy
// (bfloat16, int4, strings) or that read_npy() does not read, and for more than 16 GiB.
Result<void> write_npy(const std::filesystem::path& file, engine_dtype type,
                       const std::vector<std::int64_t>& shape, const void* data);

}  // namespace enginehost::commands
