#include "tests/fuzz/library_promises.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path file = enginehost::fuzz::as_file(data, size);
  const enginehost::binary::BinaryInfo info = enginehost::fuzz::read_any(file);
  for (const enginehost::binary::Slice& slice : info.slices) {
    const auto chosen = enginehost::binary::read_binary(file, slice.machine);
    enginehost::fuzz::require(chosen.has_value() && chosen->machine.find('+') == std::string::npos);
  }
  return 0;
}
