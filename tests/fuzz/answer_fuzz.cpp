// A server's answer before and instead of the file: Content-Range, and the page of a portal.
#include "base/text.hpp"
#include "host/transfer/http_exchange.hpp"
#include "host/transfer/transfer.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  enginehost::transfer::read_content_range(text);
  if (const auto title = enginehost::transfer::title_of_page(text)) {
    enginehost::fuzz::require(title->size() <= 120);
    for (const char character : *title)
      enginehost::fuzz::require(static_cast<unsigned char>(character) >= 0x20);
  }
  const std::string plain = enginehost::without_passwords(text);
  enginehost::fuzz::require(plain.size() <= size);
  enginehost::fuzz::require(enginehost::without_passwords(plain) == plain);
  enginehost::transfer::host_of(text);
  return 0;
}
