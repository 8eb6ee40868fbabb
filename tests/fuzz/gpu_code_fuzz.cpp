#include "host/binary/binary.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace enginehost;
  const auto code = binary::gpu_code(fuzz::as_file(data, size));
  fuzz::require(code.has_value());
  for (const binary::GpuCode::Entry& entry : code->entries) fuzz::require(entry.count > 0);
  return 0;
}
