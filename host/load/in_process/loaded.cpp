#include "host/load/in_process/loaded.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::load {
namespace {

// Compares text only, without allocation: both are the loader's own absolute paths.
bool begins_in(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) && path.size() > folder.size() &&
         path[folder.size()] == static_cast<char>(std::filesystem::path::preferred_separator) &&
         path.find("..", folder.size()) == std::string_view::npos;
}

std::filesystem::path real(const std::filesystem::path& path) {
  std::error_code error;
  auto resolved = std::filesystem::canonical(path, error);
  return error ? path : resolved;
}

}  // namespace

bool MappedPaths::has(std::string_view path) const {
  return any_of([&](std::string_view one) { return one == path; });
}

bool MappedPaths::may_lie_below(std::string_view folder) const {
  // Every path below the folder contains the folder's own name, however the path is written. One text search,
  // because this runs at every open.
  const std::string_view name = folder.substr(folder.find_last_of("/\\") + 1);
  return name.empty() || name == "." || name == ".." || text().find(name) != std::string_view::npos;
}

std::vector<Library> mapped_then(const MappedPaths& before) {
  std::vector<Library> libraries = mapped_libraries();
  std::erase_if(libraries, [&](const Library& library) { return !before.has(library.path); });
  return libraries;
}

bool is_preloaded_by_environment(const std::filesystem::path& library) {
  const auto variable = environment_variable("LD_PRELOAD");
  if (!variable) return false;
  std::string list = *variable;  // separated by spaces or colons (ld.so(8))
  std::replace(list.begin(), list.end(), ' ', ':');
  for (const std::string& entry : split(list, ':')) {
    if (entry.empty()) continue;
    const bool is_path = entry.find('/') != std::string::npos;
    if (is_path ? real(path_of(entry)) == real(library) : library.filename() == path_of(entry)) return true;
  }
  return false;
}

void find_sources(std::vector<Library>& libraries, const std::filesystem::path& view) {
  // Most come from the view by its own path and need no file access.
  bool all_below = true;
  for (Library& library : libraries)
    if (begins_in(library.path, path_text(view)))
      library.origin = "cache";
    else
      all_below = false;
  if (all_below) return;
  std::vector<std::filesystem::path> from_environment;
  for (const std::filesystem::path& folder : folders_of_environment())
    from_environment.push_back(real(folder));
  const std::filesystem::path real_view = real(view);
  for (Library& library : libraries) {
    if (!library.origin.empty()) continue;
    const std::filesystem::path path = real(path_of(library.path));
    library.origin = "system";
    for (const auto& folder : from_environment)
      if (path.parent_path() == folder || real(path_of(library.path).parent_path()) == folder)
        library.origin = "environment";
    if (is_preloaded_by_environment(path_of(library.path))) library.origin = "environment";
    if (!view.empty() && (is_below(path_of(library.path), view) || is_below(path, real_view)))
      library.origin = "cache";
  }
}

std::vector<Diagnosis> substituted(const std::vector<Library>& loaded,
                                   const std::vector<std::filesystem::path>& wanted) {
  if (wanted.empty()) return {};
  std::map<std::string, std::vector<const Library*>> by_name;
  for (const Library& library : loaded) {
    by_name[path_text(path_of(library.path).filename())].push_back(&library);
    if (!library.soname.empty()) by_name[library.soname].push_back(&library);
  }
  std::vector<Diagnosis> found;
  for (const std::filesystem::path& file : wanted) {
    const auto same_name = by_name.find(path_text(file.filename()));
    if (same_name == by_name.end()) continue;
    const Library* other = nullptr;
    bool ours = false;
    for (const Library* library : same_name->second) {
      std::error_code error;
      if (std::filesystem::equivalent(path_of(library->path), file, error))
        ours = true;
      else
        other = library;
    }
    if (!ours && other != nullptr)
      found.push_back(diagnose("EH-L11")
                          .with("library", path_text(file.filename()))
                          .with("path", other->path, "libraries of this process after loading")
                          .with("wanted", path_text(file)));
  }
  return found;
}

}  // namespace enginehost::load
