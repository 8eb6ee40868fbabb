// A list of chunks: an accepted list is written back byte for byte.
#include "host/transfer/chunk_list.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = enginehost::transfer::read_chunk_list(text, "input");
  if (!list) return 0;
  enginehost::fuzz::require(list->text() == text);
  enginehost::fuzz::require(list->end_of(list->sha256.size() - 1) == list->size);
  return 0;
}
