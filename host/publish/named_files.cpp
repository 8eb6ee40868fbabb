#include "host/publish/named_files.hpp"

#include <algorithm>

#include "host/manifest/repository.hpp"
#include "host/manifest/shapes.hpp"

namespace enginehost::publish {
namespace {

// An entry without its path: digest, a size of up to 13 digits, "executable", names, and indentation.
constexpr std::uint64_t bytes_of_an_entry = 240;

}  // namespace

Json named_files(std::vector<cache::TreeEntry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const cache::TreeEntry& a, const cache::TreeEntry& b) { return a.path < b.path; });
  Json files = Json::array();
  for (cache::TreeEntry& entry : entries) {
    Json file = Json::object().set("path", std::move(entry.path));
    if (entry.kind == cache::TreeEntry::Kind::link)
      file.set("link", std::move(entry.identity));
    else
      file.set("size", entry.size).set("sha256", std::move(entry.identity));
    if (entry.kind == cache::TreeEntry::Kind::executable) file.set("executable", true);
    files.push(std::move(file));
  }
  return files;
}

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
