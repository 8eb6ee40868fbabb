#include "host/binary/binary.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace enginehost;
  const std::filesystem::path file = fuzz::as_file(data, size);
  if (const auto table = binary::read_symbols(file)) {
    fuzz::require(table->exports.size() + table->imports.size() <= 2 * size + 65536);
  } else {
    fuzz::require(table.error().code != Code::none);
  }
  if (const auto header = binary::read_plugin_header(file)) {
    fuzz::require(header->exports.size() <= 16);
    fuzz::require((header->state == binary::PluginHeader::State::found) ==
                  (header->magic == std::string("ENGPLUG\0", 8)));
  }
  return 0;
}
