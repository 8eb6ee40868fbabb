#include "base/version.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

// The newest "PREFIX1.2.3" among version names; "GLIBCXX_TUNE" and the like are no versions.
std::string newest(const std::vector<std::string>& names, std::string_view prefix) {
  std::string best;
  for (const std::string_view name : names) {
    if (!name.starts_with(prefix)) continue;
    const std::string version(name.substr(prefix.size()));
    if (version.empty() || version.find_first_not_of("0123456789.") != std::string::npos) continue;
    if (best.empty() || compare_versions(version, best) > 0) best = version;
  }
  return best;
}

}  // namespace

Fact<Libstdcxx> detect_libstdcxx(const Root& root, const LibrarySearch& libraries) {
  const auto library = libraries.find("libstdc++.so.6");
  if (!library) return Fact<Libstdcxx>::absent(libraries.places());
  const auto info = binary::read_binary(root.on_disk(library->real_path));
  if (!info) return Fact<Libstdcxx>::unknown(library->path + " cannot be read");
  Libstdcxx found{library->path, newest(info->version_definitions, "GLIBCXX_"),
                  newest(info->version_definitions, "CXXABI_")};
  if (found.glibcxx.empty()) return Fact<Libstdcxx>::unknown(library->path + " defines no GLIBCXX versions");
  return Fact<Libstdcxx>::known(std::move(found), library->source);
}

}  // namespace enginehost::platform
