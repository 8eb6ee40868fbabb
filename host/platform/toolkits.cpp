#include <cstdlib>

#include <algorithm>

#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"

extern char** environ;

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

// cuda.h is longer than a megabyte; its version stands 14 KiB behind the beginning.
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

struct Place {
  std::string folder;
  std::string source;
};

void add_variables(std::vector<Place>& places) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name != "CUDA_HOME" && name != "CUDA_PATH" && name != "CUDA_ROOT" && !name.starts_with("CUDA_PATH_V"))
      continue;
    if (text.size() > name.size() + 1 && text[name.size() + 1] == '/')
      places.push_back({std::string(text.substr(name.size() + 1)), std::string(name)});
  }
}

// The toolkit of the nvcc that a shell would start: bin/nvcc, or a link to it, lies in the toolkit.
void add_compiler(const Root& root, std::vector<Place>& places) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "", ':')) {
    if (folder.empty() || folder.front() != '/') continue;
    const auto compiler = root.resolve(folder + "/nvcc");
    if (!compiler) continue;
    const std::filesystem::path bin = path_of(*compiler).parent_path();
    if (bin.filename() == "bin") places.push_back({bin.parent_path().native(), "nvcc in PATH"});
    return;
  }
}

std::vector<Place> places_to_look(const Root& root) {
  std::vector<Place> places;
  add_variables(places);
  add_compiler(root, places);
  for (const std::string& name : root.list("/usr/local"))
    if (name == "cuda" || name.starts_with("cuda-"))
      places.push_back({"/usr/local/" + name, "/usr/local/cuda*"});
  // Where Arch, and Debian's own package, put theirs.
  places.push_back({"/opt/cuda", "/opt/cuda"});
  places.push_back({"/usr/lib/nvidia-cuda-toolkit", "/usr/lib/nvidia-cuda-toolkit"});
  return places;
}

// A CUDA runtime that the loader finds though no toolkit is there, or an old one beside it, misleads programs
// that take its version for what the machine can do.
void add_lone_runtimes(const LibrarySearch& libraries, std::vector<Installed>& toolkits) {
  static constexpr const char* versions[] = {"13",  "12",  "11.0", "10.2", "10.1", "10.0", "9.2",
                                             "9.1", "9.0", "8.0",  "7.5",  "7.0",  "6.5"};
  for (const std::string version : versions) {
    const auto library = libraries.find("libcudart.so." + version);
    if (!library) continue;
    const bool part_of_toolkit = std::any_of(toolkits.begin(), toolkits.end(), [&](const Installed& toolkit) {
      return library->real_path.starts_with(toolkit.path + "/");
    });
    if (!part_of_toolkit)
      toolkits.push_back({version, library->path,
                          "ignored: a CUDA runtime library without its toolkit (" + library->source +
                              "); the driver decides what can run"});
  }
}

}  // namespace

Fact<std::vector<Installed>> detect_toolkits(const Root& root, const LibrarySearch& libraries) {
  std::vector<Installed> toolkits;
  std::vector<std::string> sources, seen;
  for (const Place& place : places_to_look(root)) {
    const auto real = root.resolve(place.folder);
    if (!real || std::find(seen.begin(), seen.end(), *real) != seen.end()) continue;
    seen.push_back(*real);
    const bool asked_for = !place.source.starts_with("/");
    Installed toolkit{version_of(root, *real), *real, {}};
    if (toolkit.version.empty()) {
      // A named place that is none is worth a note; a leftover folder is not.
      if (!asked_for && !root.exists(*real + "/include/cuda.h") && !root.is_folder(*real + "/lib64"))
        continue;
      toolkit.note = "ignored: no version.json, version.txt or include/cuda.h tells its version";
    }
    if (std::find(sources.begin(), sources.end(), place.source) == sources.end())
      sources.push_back(place.source);
    toolkits.push_back(std::move(toolkit));
  }
  const std::size_t whole = toolkits.size();
  add_lone_runtimes(libraries, toolkits);
  if (toolkits.size() > whole) sources.push_back("libcudart.so.* the loader would find");
  if (toolkits.empty())
    return Fact<std::vector<Installed>>::absent(
        "CUDA_HOME, CUDA_PATH, nvcc in PATH, /usr/local/cuda*, /opt/cuda");
  return Fact<std::vector<Installed>>::known(std::move(toolkits), join(sources, ", "));
}

}  // namespace enginehost::platform
