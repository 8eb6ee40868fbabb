#include "tests/fuzz/library_promises.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path file = enginehost::fuzz::as_file(data, size);
  const enginehost::binary::BinaryInfo info = enginehost::fuzz::read_any(file);
  // No more names than there are bytes to name them with.
  enginehost::fuzz::require(info.needed.size() <= size && info.version_needs.size() <= size + 65536);
  return 0;
}
