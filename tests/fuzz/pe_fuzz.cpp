#include "tests/fuzz/library_promises.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path file = enginehost::fuzz::as_file(data, size);
  enginehost::fuzz::read_any(file);
  const auto resources = enginehost::binary::pe_resources(file);
  enginehost::fuzz::require(resources.has_value());
  enginehost::fuzz::require(resources->has_manifest || resources->assemblies.empty());
  return 0;
}
