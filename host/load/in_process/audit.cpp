#include "host/load/in_process/audit.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <system_error>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {
namespace {

namespace fs = std::filesystem;

std::string name_of(const Library& library) {
  return library.soname.empty() ? fs::path(library.path).filename().native() : library.soname;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

std::string way_of(const Library& library, bool was_there) {
  if (is_preloaded_by_environment(library.path)) return "LD_PRELOAD";
  if (was_there) return "the process had it before";
  const auto variable = environment_variable("LD_LIBRARY_PATH");
  if (!variable) return "the loader's search";
  const fs::path folder = fs::path(library.path).parent_path();
  const std::vector<std::string> folders = split(*variable, ':');
  const bool from_variable = std::any_of(folders.begin(), folders.end(), [&](const std::string& one) {
    return !one.empty() && same_file(one, folder);
  });
  return from_variable ? "LD_LIBRARY_PATH" : "the loader's search";
}

}  // namespace

bool belongs_to_the_driver(const fs::path& library) {
  constexpr std::string_view names[] = {
      "libcuda.so",   "libcudadebugger.so", "libnvidia-",          "libnvcuvid.so",   "libnvoptix.so",
      "libdxcore.so", "libd3d12",           "libnvdxdlkernels.so", "libnvwgf2umx.so", "nvcuda"};
  const std::string name = library.filename().native();
  if (std::any_of(std::begin(names), std::end(names), [&](auto begin) { return name.starts_with(begin); }))
    return true;
  const std::string& path = library.native();
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

std::vector<Diagnosis> hijacked(const std::vector<Library>& own, const std::vector<Library>& loaded,
                                const std::vector<Library>& before) {
  std::map<std::string, const Library*> serving;
  for (const Library& library : loaded) serving.emplace(name_of(library), &library);
  std::vector<Diagnosis> found;
  for (const Library& wanted : own) {
    const auto at = serving.find(name_of(wanted));
    if (at == serving.end() || at->second->path == wanted.path) continue;
    const Library& other = *at->second;
    if (belongs_to_the_driver(other.path) || same_content(other.path, wanted.path)) continue;
    const bool was_there = std::any_of(before.begin(), before.end(),
                                       [&](const Library& library) { return library.path == other.path; });
    const std::string way = way_of(other, was_there);
    found.push_back(std::move(diagnose(was_there && way != "LD_PRELOAD" ? "EH-L17" : "EH-L11")
                                  .with("library", name_of(wanted))
                                  .with("path", other.path, "libraries of this process after loading")
                                  .with("wanted", wanted.path, "files of the build")
                                  .with("by", way)));
  }
  return found;
}

}  // namespace enginehost::load
