#include "host/load/in_process/audit.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "base/paths.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {
namespace {

namespace fs = std::filesystem;

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
std::string own_file(const std::vector<fs::path>& folders, std::string_view name) {
  std::error_code error;
  for (const fs::path& folder : folders)
    if (fs::path file = folder / path_of(name); fs::exists(file, error)) return path_text(file);
  return {};
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

// Finds the library that serves a SONAME: the one that was loaded first.
class Serving {
 public:
  Serving(const std::vector<Library>& before, const std::vector<Library>& came) {
    all_.reserve(before.size() + came.size());
    for (const std::vector<Library>* libraries : {&before, &came})
      for (const Library& library : *libraries) all_.push_back({name_of(library), all_.size(), &library});
    std::sort(all_.begin(), all_.end());
  }
  const Library* find(std::string_view name) const {
    const auto at = std::lower_bound(all_.begin(), all_.end(), Entry{name, 0, nullptr});
    return at != all_.end() && at->name == name ? at->library : nullptr;
  }

 private:
  struct Entry {
    std::string_view name;
    std::size_t number;
    const Library* library;
    bool operator<(const Entry& other) const {
      return name != other.name ? name < other.name : number < other.number;
    }
  };
  std::vector<Entry> all_;
};

std::string way_of(const Library& library, bool was_there) {
  if (is_preloaded_by_environment(path_of(library.path))) return "LD_PRELOAD";
  if (was_there) return "the process had it before";
  const fs::path folder = path_of(library.path).parent_path();
  const std::vector<fs::path> folders = folders_of_environment();
  const bool from_variable = std::any_of(folders.begin(), folders.end(),
                                         [&](const fs::path& one) { return same_file(one, folder); });
  return from_variable ? "LD_LIBRARY_PATH" : "the loader's search";
}

}  // namespace

bool belongs_to_the_driver(const fs::path& library) {
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

bool same_content(const fs::path& a, const fs::path& b) {
  if (same_file(a, b)) return true;
  std::error_code error;
  const auto size = fs::file_size(a, error);
  if (error || fs::file_size(b, error) != size || error) return false;
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  std::array<char, 1 << 16> one{}, two{};
  while (first.read(one.data(), one.size()), second.read(two.data(), two.size()), first.gcount() > 0)
    if (first.gcount() != second.gcount() ||
        !std::equal(one.begin(), one.begin() + first.gcount(), two.begin()))
      return false;
  return true;
}

std::vector<Diagnosis> hijacked(const std::vector<Library>& own, const std::vector<fs::path>& own_folders,
                                const std::vector<Library>& came, const std::vector<Library>& before) {
  const Serving serving(before, came);
  std::vector<Diagnosis> found;
  std::set<std::string_view> looked_at;
  const auto look = [&](const Library& other, const std::string& wanted) {
    const std::string_view name = name_of(other);
    looked_at.insert(name);
    if (other.path == wanted || is_driver(other) || same_content(path_of(other.path), path_of(wanted)))
      return;
    const bool was_there = is_among(before, other);
    const std::string way = way_of(other, was_there);
    found.push_back(std::move(diagnose(was_there && way != "LD_PRELOAD" ? "EH-L17" : "EH-L11")
                                  .with("library", name)
                                  .with("path", other.path, "libraries of this process after loading")
                                  .with("wanted", wanted, "files of the build")
                                  .with("by", way)));
  };
  for (const Library& wanted : own)
    if (const Library* first = serving.find(name_of(wanted))) look(*first, wanted.path);
  // Libraries that the build's record does not list.
  for (const Library& library : came) {
    if (library.origin == "cache" || looked_at.count(name_of(library)) != 0 || is_driver(library) ||
        is_among(before, library))
      continue;
    const Library& first = *serving.find(name_of(library));
    const std::string wanted = own_file(own_folders, name_of(library));
    if (!wanted.empty() && first.origin != "cache")
      look(first, wanted);
    else if (library.origin == "environment")
      found.push_back(std::move(diagnose("EH-L11")
                                    .with("library", name_of(library))
                                    .with("path", library.path, "libraries of this process after loading")
                                    .with("from_environment", "LD_LIBRARY_PATH")));
  }
  return found;
}

}  // namespace enginehost::load
