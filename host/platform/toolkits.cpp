#include "host/platform/parts.hpp"

#include <algorithm>
#include <optional>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::platform {
namespace {

// 11.1 and newer: {"cuda": {"name": "CUDA SDK", "version": "12.9.1"}, …}
std::string version_json(const std::string& text, const std::string& file) {
  const auto document = parse_json(text, file);
  return document ? (*document)["cuda"]["version"].as_string() : "";
}

// Until 11.0: "CUDA Version 10.2.89"
std::string version_txt(std::string_view text) {
  constexpr std::string_view before = "CUDA Version ";
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string(text.substr(0, text.find_first_not_of("0123456789.")));
}

// "#define CUDA_VERSION 12090": 1000 * major + 10 * minor, no patch level.
std::string version_header(const std::string& text) {
  constexpr std::string_view name = "#define CUDA_VERSION ";
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return {};
  std::string_view rest = trim(std::string_view(text).substr(at + name.size()));
  const auto number = parse_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!number) return {};
  return std::to_string(*number / 1000) + "." + std::to_string(*number % 1000 / 10);
}

// cuda.h is longer than a megabyte; its version stands 14 KiB after the beginning.
constexpr std::size_t start_of_header = 32 * 1024;

std::string version_of(const Root& root, const std::string& folder) {
  std::string version;
  if (const auto text = root.read(folder + "/version.json"))
    version = version_json(*text, folder + "/version.json");
  if (version.empty())
    if (const auto text = root.read(folder + "/version.txt")) version = version_txt(*text);
  for (const char* header : {"/include/cuda.h", "/targets/x86_64-linux/include/cuda.h"})
    if (version.empty()) version = version_header(root.read_start(folder + header, start_of_header));
  return version;
}

// Adds CUDA runtimes that the loader finds without a toolkit, or an old one beside it. They mislead programs
// that take their version for the machine's.
void add_lone_runtimes(const LibrarySearch& libraries, std::vector<Installed>& toolkits) {
  for (const std::string version :
       {"13", "12", "11.0", "10.2", "10.1", "10.0", "9.2", "9.1", "9.0", "8.0", "7.5", "7.0", "6.5"}) {
    const auto library = libraries.find(runtime_file(version));
    if (!library) continue;
    const bool part_of_toolkit = std::any_of(toolkits.begin(), toolkits.end(), [&](const Installed& toolkit) {
      return is_below(path_of(library->real_path), path_of(toolkit.path));
    });
    if (!part_of_toolkit)
      toolkits.push_back({version, library->path,
                          "ignored: a CUDA runtime library without its toolkit (" + library->source +
                              "); the driver decides what can run"});
  }
}

}  // namespace

std::vector<ToolkitPlace> toolkits_of_variables(const Variables& variables) {
  std::vector<ToolkitPlace> places;
  for (const auto& [name, folder] : variables)
    if ((name == "CUDA_HOME" || name == "CUDA_PATH" || name == "CUDA_ROOT" ||
         name.starts_with("CUDA_PATH_V")) &&
        path_of(folder).is_absolute())
      places.push_back({folder, name, true});
  return places;
}

Fact<std::vector<Installed>> detect_toolkits(const Root& root, const LibrarySearch& libraries) {
  std::vector<Installed> toolkits;
  std::vector<std::string> sources, seen;
  // Several places may name one folder, directly or by a link; each name is resolved once.
  const auto is_new = [&seen](const std::string& folder) {
    if (std::find(seen.begin(), seen.end(), folder) != seen.end()) return false;
    seen.push_back(folder);
    return true;
  };
  for (const ToolkitPlace& place : toolkit_places(root)) {
    if (!is_new(place.folder)) continue;
    const auto real = root.resolve(place.folder);
    if (!real || (*real != place.folder && !is_new(*real))) continue;
    Installed toolkit{version_of(root, *real), *real, {}};
    if (toolkit.version.empty()) {
      // A named place without a toolkit is worth a note; a leftover folder is not.
      if (!place.named && !root.exists(*real + "/include/cuda.h") &&
          !root.is_folder(*real + cuda_names.toolkit_libraries))
        continue;
      toolkit.note = "ignored: no version.json, version.txt or include/cuda.h states its version";
    }
    if (std::find(sources.begin(), sources.end(), place.source) == sources.end())
      sources.push_back(place.source);
    toolkits.push_back(std::move(toolkit));
  }
  const std::size_t whole = toolkits.size();
  add_lone_runtimes(libraries, toolkits);
  if (toolkits.size() > whole) sources.push_back(cuda_names.runtimes);
  if (toolkits.empty()) return Fact<std::vector<Installed>>::absent(cuda_names.toolkit_places);
  return Fact<std::vector<Installed>>::known(std::move(toolkits), join(sources, ", "));
}

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
    for (const std::string folder : cuda_names.cudnn_folders)
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
