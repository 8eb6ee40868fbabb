#include "tests/support/temporary_folder.hpp"

#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "base/files.hpp"

namespace enginehost::test {

TemporaryFolder::TemporaryFolder() {
  auto made = make_private_folder(std::filesystem::temp_directory_path(), "enginehost-test-");
  if (!made)
    throw std::runtime_error("no temporary folder: " + std::string(made.error().value(Key::os_said)));
  path_ = std::move(*made);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  remove_tree(path_, ignored);
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::string bytes;
  bytes.reserve(size + 8);
  while (bytes.size() < size) {
    const auto word = engine();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace enginehost::test
