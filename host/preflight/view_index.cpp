#include "host/preflight/view_index.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::preflight {
namespace {

// True for libx.so and libx.so.1.2, not for libx.so.txt.
bool looks_like_library(const std::string& name) {
  const std::size_t at = name.find(".so");
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(name).substr(at + 3);
  return rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789.") == std::string_view::npos);
}

// Deeper chains than this only come from damaged or malicious files.
constexpr int deepest = 256;

}  // namespace

ViewIndex::ViewIndex(const Spec& spec, linker::Reader& reader) : spec_(spec), reader_(reader) {
  std::vector<std::filesystem::path> folders = spec.search;
  if (!spec.view.empty()) folders.push_back(spec.plugin.parent_path());
  for (const std::filesystem::path& folder : folders) {
    if (reader.is_file(path_text(folder))) {
      if (by_name_.emplace(path_text(folder.filename()), path_text(folder)).second)
        libraries_.push_back(path_text(folder));
      continue;
    }
    for (const std::string& name : reader.names_in(path_text(folder))) {
      if (!looks_like_library(name)) continue;
      const std::string path = path_text(folder / path_of(name));
      if (path == path_text(spec.plugin)) continue;
      if (!by_name_.emplace(name, path).second) continue;  // the first folder in the search order wins
      libraries_.push_back(path);
    }
  }
  // An unpacked archive may have lost the links whose names are the SONAMEs.
  for (const std::string& path : libraries_)
    if (const auto& info = reader.read(path); info && !info->soname.empty())
      by_name_.emplace(info->soname, path);
}

std::string ViewIndex::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? found->second : std::string();
}

bool ViewIndex::in_view(const std::string& path) const {
  return !spec_.view.empty() && is_below(path_of(path), spec_.view);
}

bool ViewIndex::optional(const std::string& path) const {
  if (!in_view(path)) return false;
  const std::string inside = generic_text(path_of(path).lexically_relative(spec_.view));
  return std::any_of(spec_.optional.begin(), spec_.optional.end(),
                     [&](const std::string& pattern) { return matches_pattern(inside, pattern); });
}

void ViewIndex::add_needs(const std::string& file, std::vector<std::string>& order) const {
  std::set<std::string> visited(order.begin(), order.end());
  visited.insert(file);
  const auto& info = reader_.read(file);
  if (!info) return;
  for (const std::string& name : info->needed)
    if (const std::string path = find(name); !path.empty()) visit(path, visited, order, 0);
}

void ViewIndex::visit(const std::string& file, std::set<std::string>& visited,
                      std::vector<std::string>& order, int depth) const {
  if (depth == deepest || !visited.insert(file).second) return;
  if (const auto& info = reader_.read(file))
    for (const std::string& name : info->needed)
      if (const std::string path = find(name); !path.empty()) visit(path, visited, order, depth + 1);
  order.push_back(file);
}

}  // namespace enginehost::preflight
