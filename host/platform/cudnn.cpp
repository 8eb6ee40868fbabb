#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "host/platform/parts.hpp"
#include "host/platform/toolkit_places.hpp"

namespace enginehost::platform {
namespace {

using List = std::vector<Installed>;

std::string defined(const std::string& text, std::string_view name) {
  const std::string line = "#define " + std::string(name) + " ";
  const std::size_t at = text.find(line);
  if (at == std::string::npos) return {};
  const std::string_view rest = trim(std::string_view(text).substr(at + line.size()));
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// cudnn_version.h since version 8, cudnn.h before.
std::string header_version(const Root& root, const std::string& folder) {
  for (const char* name : {"/cudnn_version.h", "/cudnn.h"})
    if (const auto text = root.read(folder + name)) {
      const std::string major = defined(*text, "CUDNN_MAJOR"), minor = defined(*text, "CUDNN_MINOR"),
                        patch = defined(*text, "CUDNN_PATCHLEVEL");
      if (!major.empty())
        return major + "." + (minor.empty() ? "0" : minor) + "." + (patch.empty() ? "0" : patch);
    }
  return {};
}

void add(List& found, std::vector<std::string>& seen, const std::string& path,
         const std::optional<std::string>& real, const std::string& header) {
  if (!real || std::find(seen.begin(), seen.end(), *real) != seen.end()) return;
  seen.push_back(*real);
  std::string version = version_in_cudnn_name(*real);
  // The header completes a bare major number if both have the same one.
  if (version.find('.') == std::string::npos && header.starts_with(version + ".")) version = header;
  found.push_back({version, path, {}});
}

}  // namespace

Fact<List> detect_cudnn(const Root& root, const LibrarySearch& libraries, const List& toolkits) {
  List found;
  std::vector<std::string> seen, sources;
  static constexpr const char* majors[] = {"9", "8", "7"};
  for (const Installed& toolkit : toolkits) {
    const std::string header = header_version(root, toolkit.path + "/include");
    const std::size_t before = found.size();
    for (const std::string& folder : cudnn_folders())
      for (const std::string major : majors) {
        const std::string path = toolkit.path + folder + "/" + cudnn_file(major);
        add(found, seen, path, root.resolve(path), header);
      }
    if (found.size() > before) sources.push_back(toolkit.path);
  }
  for (const std::string major : majors) {
    const auto library = libraries.find(cudnn_file(major));
    if (!library) continue;
    const std::size_t before = found.size();
    add(found, seen, library->path, library->real_path,
        header_version(root, cudnn_header_folder(library->path)));
    if (found.size() > before) sources.push_back(library->source);
  }
  if (found.empty()) return Fact<List>::absent("toolkits, " + libraries.places());
  return Fact<List>::known(std::move(found), join(sources, ", "));
}

}  // namespace enginehost::platform
