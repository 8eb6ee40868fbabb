#include "host/installations/parts.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_libraries = 500;  // an environment has a few dozen; a larger number is a mistake

constexpr std::string_view of_the_process[] = {
    "libc.",     "libm.",      "libdl.",  "libpthread.", "librt.",  "libutil.",   "ld-linux",  "libstdc++.",
    "libgcc_s.", "libresolv.", "libanl.", "ld-musl",     "libc++.", "libnvidia-", "libcuda.so"};

bool belongs_to_the_process(std::string_view name) {
  return std::any_of(std::begin(of_the_process), std::end(of_the_process),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

// Expands "$ORIGIN/../lib" for a library of that folder.
fs::path expanded(std::string text, const fs::path& folder) {
  for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"})
    if (const std::size_t at = text.find(token); at != std::string::npos)
      text.replace(at, token.size(), path_text(folder));
  return path_of(text).lexically_normal();
}

bool is_inside(const Places& places, const fs::path& folder) {
  const auto holds = [&](const fs::path& above) { return is_below(folder, above); };
  return holds(places.prefix) || std::any_of(places.packages.begin(), places.packages.end(), holds);
}

std::vector<fs::path> searched(const Places& places, const binary::BinaryInfo& info,
                               const fs::path& library) {
  std::vector<fs::path> folders = {library.parent_path()};
  for (const std::vector<std::string>* paths : {&info.runpath, &info.rpath})
    for (const std::string& text : *paths)
      if (fs::path folder = expanded(text, library.parent_path()); is_inside(places, folder))
        folders.push_back(std::move(folder));
  if (places.layout != Layout::python_packages)
    folders.insert(folders.end(), places.libraries.begin(), places.libraries.end());
  return folders;
}

// "GLIBCXX_3.4.30" raises `bound` to ">=3.4.30"; "GLIBC_PRIVATE" is ignored.
void raise(std::string& bound, std::string_view version, std::string_view family) {
  if (!version.starts_with(family)) return;
  const std::string_view number = version.substr(family.size());
  if (number.empty() || number.find_first_not_of("0123456789.") != std::string_view::npos) return;
  if (bound.empty() || compare_versions(number, std::string_view(bound).substr(2)) > 0)
    bound = ">=" + std::string(number);
}

}  // namespace

fs::path library_in(const Listing& folder, std::string_view name) {
  const fs::path inside = path_of(name).parent_path();
  if (!inside.empty()) return library_in(Listing(folder.path / inside), path_text(path_of(name).filename()));
  const std::string file(name);
  std::string best;
  for (const std::string& entry : folder.names) {
    if (entry == file) {
      best = entry;
      break;
    }
    if (!entry.starts_with(file + ".")) continue;
    if (entry.find_first_not_of("0123456789.", file.size()) != std::string::npos) continue;
    if (best.empty() || compare_versions(std::string_view(entry).substr(file.size() + 1),
                                         std::string_view(best).substr(file.size() + 1)) > 0)
      best = entry;
  }
  if (best.empty()) return {};
  const fs::path path = folder.path / path_of(best);
  const auto info = binary::read_binary(path);
  std::error_code error;
  if (info && !info->soname.empty() && info->soname.find('/') == std::string::npos &&
      fs::equivalent(folder.path / path_of(info->soname), path, error))
    return folder.path / path_of(info->soname);
  return path;
}

Closure close_over(const Places& places, const std::vector<fs::path>& first) {
  Closure closure;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::vector<fs::path> pending(first.rbegin(), first.rend());
  std::set<std::string> asked;
  while (!pending.empty() && closure.libraries.size() < most_libraries) {
    const fs::path path = std::move(pending.back());
    pending.pop_back();
    auto info = binary::read_binary(path);
    if (!info || !seen.emplace(info->device, info->inode).second) continue;
    closure.libraries.push_back(path_text(path));
    closure.names.push_back(path_text(path.filename()));
    if (!info->soname.empty() && info->soname != closure.names.back()) closure.names.push_back(info->soname);
    const std::vector<fs::path> folders = searched(places, *info, path);
    for (const std::string& name : info->needed) {
      // The system's libraries are left to its loader.
      if (places.is_system) break;
      if (belongs_to_the_process(name) || name.find('/') != std::string::npos || !asked.insert(name).second)
        continue;
      std::error_code error;
      for (const fs::path& folder : folders)
        if (fs::is_regular_file(folder / path_of(name), error)) {
          pending.push_back(folder / path_of(name));
          break;
        }
    }
    closure.infos.push_back(std::move(*info));
  }
  return closure;
}

manifest::Requirements requirements_of(const std::vector<binary::BinaryInfo>& infos) {
  manifest::Requirements requirements;
  requirements.libc = "glibc";
  std::uint32_t isa = 0;
  for (const binary::BinaryInfo& info : infos) {
    isa |= info.isa_needed;
    for (const std::string& name : info.needed)
      if (name.starts_with("libc.musl-") || name.starts_with("ld-musl-") || name == "libc.so")
        requirements.libc = "musl";
    for (const binary::VersionNeed& need : info.version_needs) {
      if (need.weak) continue;
      raise(requirements.glibc, need.version, "GLIBC_");
      raise(requirements.glibcxx, need.version, "GLIBCXX_");
      raise(requirements.cxxabi, need.version, "CXXABI_");
    }
  }
  if (requirements.libc == "musl") requirements.glibc.clear();
  const char* level = (isa & 8u) != 0   ? "x86-64-v4"
                      : (isa & 4u) != 0 ? "x86-64-v3"
                      : (isa & 2u) != 0 ? "x86-64-v2"
                                        : nullptr;
  if (level != nullptr) requirements.cpu.emplace_back(level);
  return requirements;
}

}  // namespace enginehost::installations
