// Runs a target once over every file of the folders named: the kept corpus, without a fuzzer.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/input_file.hpp"

int main(int count, char** arguments) {
  std::size_t files = 0;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(arguments[i])) {
      std::fprintf(stderr, "%s is no folder\n", arguments[i]);
      return 2;
    }
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
      LLVMFuzzerTestOneInput(data.data(), data.size());
      ++files;
    }
  }
  std::printf("%zu inputs\n", files);
  return files > 0 ? 0 : 1;
}
