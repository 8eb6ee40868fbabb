// float32 arrays in files, as NumPy saves them.
#pragma once
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace enginehost::test {

// Format 1.0; `shape` as Python writes a tuple, "(2, 3)".
inline void write_array(const std::string& path, const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(127 - 10, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0' << header;
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
}

// The numbers of a file of any shape; empty when the file does not exist.
inline std::vector<float> read_array(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = bytes.find('\n') + 1;
  std::vector<float> out((bytes.size() - begin) / sizeof(float));
  std::memcpy(out.data(), bytes.data() + begin, out.size() * sizeof(float));
  return out;
}

}  // namespace enginehost::test
