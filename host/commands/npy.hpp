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

// Room for an array of that type and shape; contents are zero.
Array make_array(engine_dtype type, std::vector<std::int64_t> shape);

// What is stored column by column or with the other byte order is turned into an Array's. No
// more is read than the header speaks of. EH-P47: no such file. EH-P30: not an .npy file or a kind of it that
// is not supported ("file", "problem"). EH-P51: there is no memory for it ("file").
Result<Array> read_npy(const std::filesystem::path& file);

// Written as version 1.0, replaced atomically. EH-P30 for a type that .npy has no name for (bfloat16, int4,
// strings) or read_npy() would not read, and for more than 16 GiB.
Result<void> write_npy(const std::filesystem::path& file, engine_dtype type,
                       const std::vector<std::int64_t>& shape, const void* data);

}  // namespace enginehost::commands
