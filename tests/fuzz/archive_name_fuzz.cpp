// Names from an archive: an accepted name is the same on every system and stays below its folder.
#include "cache/portable_names.hpp"
#include "host/acquire/unpack.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name(reinterpret_cast<const char*>(data), size);
  const auto path = enginehost::acquire::path_in_tree({}, name);
  if (!path || !enginehost::cache::name_problem(*path).empty()) return 0;
  enginehost::fuzz::require(path->find("../") == std::string::npos && !path->starts_with('/'));
  enginehost::fuzz::require(path->find(':') == std::string::npos && !path->ends_with('.'));
  enginehost::cache::Spellings spellings;
  enginehost::fuzz::require(spellings.clash(*path).empty());
  enginehost::fuzz::require(spellings.clash(*path).empty());
  return 0;
}
