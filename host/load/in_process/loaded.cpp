#include "host/load/in_process/loaded.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::load {
namespace {

std::filesystem::path real(const std::filesystem::path& path) {
  std::error_code error;
  auto resolved = std::filesystem::canonical(path, error);
  return error ? path : resolved;
}

}  // namespace

std::vector<Library> mapped_since(const std::vector<Library>& before) {
  std::set<std::string_view> known;
  for (const Library& library : before) known.insert(library.path);
  std::vector<Library> libraries = mapped_libraries();
  std::erase_if(libraries, [&](const Library& library) { return known.contains(library.path); });
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
    if (is_below(path_of(library.path), view))
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
    if (!view.empty() && is_below(path, real_view)) library.origin = "cache";
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
      found.push_back(diagnose(Code::library_from_other_folder)
                          .with(Key::library, path_text(file.filename()))
                          .with(Key::path, other->path, "libraries of this process after loading")
                          .with(Key::wanted, path_text(file)));
  }
  return found;
}

namespace {

// The view points into the library and is valid as long as it.
std::string_view name_of(const Library& library) {
  if (!library.soname.empty()) return library.soname;
  return std::string_view(library.path).substr(library.path.rfind('/') + 1);
}

bool is_driver(const Library& library) {
  return belongs_to_the_driver(path_of(library.path)) || belongs_to_the_driver(path_of(name_of(library)));
}

bool is_among(const std::vector<Library>& libraries, const Library& one) {
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](const Library& library) { return library.path == one.path; });
}

// Returns a file of that name in one of the folders; empty when there is none.
std::string own_file(const std::vector<std::filesystem::path>& folders, std::string_view name) {
  std::error_code error;
  for (const std::filesystem::path& folder : folders)
    if (std::filesystem::path file = folder / path_of(name); std::filesystem::exists(file, error))
      return path_text(file);
  return {};
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

std::string way_of(const Library& library, bool was_there) {
  if (is_preloaded_by_environment(path_of(library.path))) return "LD_PRELOAD";
  if (was_there) return "the process had it before";
  const std::filesystem::path folder = path_of(library.path).parent_path();
  const std::vector<std::filesystem::path> folders = folders_of_environment();
  const bool from_variable =
      std::any_of(folders.begin(), folders.end(),
                  [&](const std::filesystem::path& one) { return same_file(one, folder); });
  return from_variable ? "LD_LIBRARY_PATH" : "the loader's search";
}

}  // namespace

bool belongs_to_the_driver(const std::filesystem::path& library) {
  constexpr std::string_view names[] = {
      "libcuda.so",   "libcudadebugger.so", "libnvidia-",          "libnvcuvid.so",   "libnvoptix.so",
      "libdxcore.so", "libd3d12",           "libnvdxdlkernels.so", "libnvwgf2umx.so", "nvcuda"};
  const std::string name = path_text(library.filename());
  if (std::any_of(std::begin(names), std::end(names), [&](auto begin) { return name.starts_with(begin); }))
    return true;
  const std::string& path = path_text(library);
  return path.find("/wsl/lib/") != std::string::npos || path.find("/wsl/drivers/") != std::string::npos ||
         path.find("DriverStore") != std::string::npos;
}

bool same_content(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (same_file(a, b)) return true;
  std::error_code error;
  const auto size = std::filesystem::file_size(a, error);
  if (error || std::filesystem::file_size(b, error) != size || error) return false;
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  std::array<char, 1 << 16> one{}, two{};
  while (first.read(one.data(), one.size()), second.read(two.data(), two.size()), first.gcount() > 0)
    if (first.gcount() != second.gcount() ||
        !std::equal(one.begin(), one.begin() + first.gcount(), two.begin()))
      return false;
  return true;
}

std::vector<Diagnosis> hijacked(const std::vector<Library>& own,
                                const std::vector<std::filesystem::path>& own_folders,
                                const std::vector<Library>& came, const std::vector<Library>& before) {
  // The library that serves a SONAME is the one that was loaded first.
  std::unordered_map<std::string_view, const Library*> serving;
  for (const std::vector<Library>* libraries : {&before, &came})
    for (const Library& library : *libraries) serving.try_emplace(name_of(library), &library);
  std::vector<Diagnosis> found;
  std::set<std::string_view> looked_at;
  const auto look = [&](const Library& other, const std::string& wanted) {
    const std::string_view name = name_of(other);
    looked_at.insert(name);
    if (other.path == wanted || is_driver(other) || same_content(path_of(other.path), path_of(wanted)))
      return;
    const bool was_there = is_among(before, other);
    const std::string way = way_of(other, was_there);
    found.push_back(std::move(diagnose(was_there && way != "LD_PRELOAD" ? Code::other_file_already_loaded
                                                                        : Code::library_from_other_folder)
                                  .with(Key::library, name)
                                  .with(Key::path, other.path, "libraries of this process after loading")
                                  .with(Key::wanted, wanted, "files of the build")
                                  .with(Key::by, way)));
  };
  for (const Library& wanted : own)
    if (const auto first = serving.find(name_of(wanted)); first != serving.end())
      look(*first->second, wanted.path);
  // Libraries that the build's record does not list.
  for (const Library& library : came) {
    if (library.origin == "cache" || looked_at.count(name_of(library)) != 0 || is_driver(library) ||
        is_among(before, library))
      continue;
    const Library& first = *serving.at(name_of(library));
    const std::string wanted = own_file(own_folders, name_of(library));
    if (!wanted.empty() && first.origin != "cache")
      look(first, wanted);
    else if (library.origin == "environment")
      found.push_back(std::move(diagnose(Code::library_from_other_folder)
                                    .with(Key::library, name_of(library))
                                    .with(Key::path, library.path, "libraries of this process after loading")
                                    .with(Key::from_environment, "LD_LIBRARY_PATH")));
  }
  return found;
}

}  // namespace enginehost::load
