#include "tools/publish/named_files.hpp"

#include <algorithm>

#include "host/manifest/repository.hpp"
#include "host/manifest/shapes.hpp"

namespace enginehost::publish {
namespace {

// An entry without its path: digest, a size of up to 13 digits, "executable", names, and indentation.
constexpr std::uint64_t bytes_of_an_entry = 240;

}  // namespace

std::string unnameable_path(const std::vector<std::string>& paths) {
  const auto found = std::find_if_not(paths.begin(), paths.end(), manifest::is_view_path);
  return found == paths.end() ? std::string() : *found;
}

bool names_fit(const std::vector<std::string>& paths, std::uint64_t document_bytes) {
  std::uint64_t bytes = document_bytes;
  for (const std::string& path : paths) bytes += path.size() + bytes_of_an_entry;
  return bytes <= manifest::largest_document && unnameable_path(paths).empty();
}

}  // namespace enginehost::publish
