// A project's page of a package index.
#include "host/transfer/package_page.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string page(reinterpret_cast<const char*>(data), size);
  static_cast<void>(enginehost::transfer::find_in_page(page, "sample-1.0-py3-none-any.whl"));
  return 0;
}
