#include "tests/fuzz/library_promises.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const enginehost::binary::BinaryInfo info =
      enginehost::fuzz::read_any(enginehost::fuzz::as_file(data, size));
  // A title goes into a message: one line of readable length.
  enginehost::fuzz::require(info.page_title.size() <= 200);
  for (char letter : info.page_title) enginehost::fuzz::require(static_cast<unsigned char>(letter) >= ' ');
  return 0;
}
