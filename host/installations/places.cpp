#include "host/installations/parts.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Adds <prefix>/lib/python3.*/site-packages of a virtual or conda environment.
void add_site_packages(const fs::path& prefix, std::vector<fs::path>& found) {
  for (const char* library : {"lib", "lib64"}) {
    std::error_code error;
    if (fs::is_symlink(prefix / library, error)) continue;  // lib64 of a virtual environment is a link to lib
    for (const std::string& name : names_in(prefix / library))
      if (name.starts_with("python3") && is_folder(prefix / library / path_of(name) / "site-packages"))
        found.push_back(prefix / library / path_of(name) / "site-packages");
  }
}

bool holds_packages(const std::vector<std::string>& names) {
  std::set<std::string> folders = {"nvidia"};
  for (const KnownEngine& engine : known_engines())
    for (const std::string& folder : engine.package_folders)
      folders.insert(folder.substr(0, folder.find('/')));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.ends_with(".dist-info") || name.ends_with(".egg-info") || folders.contains(name);
  });
}

bool is_library(const std::string& name) {
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

}  // namespace

// The names are in the order of Layout.
const char* name_of(Layout layout) {
  static constexpr const char* names[] = {"conda environment", "Python packages", "folder of libraries"};
  return names[static_cast<std::size_t>(layout)];
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(path_text(at->path().filename()));
  std::sort(names.begin(), names.end());
  return names;
}

Result<Places> places_of(const fs::path& path) {
  std::error_code error;
  const auto unusable = [&](std::string_view problem) {
    return fail(
        diagnose(Code::installation_unusable).with(Key::path, path_text(path)).with(Key::problem, problem));
  };
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return unusable("it does not exist");
  if (error) return unusable(error.message());
  if (status.type() != fs::file_type::directory) return unusable("it is a file, not a folder");
  fs::directory_iterator listed(path, error);
  if (error) return unusable(error.message());

  Places places;
  places.prefix = path;
  add_site_packages(path, places.packages);
  if (is_folder(path / "conda-meta")) {
    places.layout = Layout::conda;
    places.libraries.push_back(path / "lib");
    return places;
  }
  const std::vector<std::string> names = names_in(path);
  if (holds_packages(names)) places.packages.push_back(path);
  if (!places.packages.empty()) {
    places.layout = Layout::python_packages;
    return places;
  }
  if (std::any_of(names.begin(), names.end(), is_library)) places.libraries.push_back(path);
  // An unpacked archive or a package's own folder, /usr, or /usr/lib.
  for (const char* below : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu",
                            "x86_64-linux-gnu", "aarch64-linux-gnu", "capi"})
    if (is_folder(path / below)) places.libraries.push_back(path / below);
  for (const char* folder : {"/usr/lib", "/usr/lib64", "/lib", "/lib64"})
    places.is_system = places.is_system || is_below(path, path_of(folder)) || path == "/usr";
  return places;
}

}  // namespace enginehost::installations
