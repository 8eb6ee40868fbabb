#include "tools/publish/names.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "host/manifest/repository.hpp"
#include "host/manifest/shapes.hpp"

namespace enginehost::publish {
namespace {

// An entry without its path: digest, a size of up to 13 digits, "executable", names, and indentation.
constexpr std::uint64_t bytes_of_an_entry = 240;

}  // namespace

std::optional<WheelName> read_wheel_name(const std::string& file) {
  constexpr std::string_view ending = ".whl";
  if (!file.ends_with(ending)) return std::nullopt;
  const auto parts = split(file.substr(0, file.size() - ending.size()), '-');
  if (parts.size() != 5 && parts.size() != 6) return std::nullopt;
  for (const auto& part : parts)
    if (part.empty()) return std::nullopt;
  return WheelName{normal_project(std::string(parts[0])), std::string(parts[1]), std::string(parts.back())};
}

std::optional<WheelName> name_within(const std::vector<std::string>& files) {
  constexpr std::string_view ending = ".dist-info";
  for (const std::string& file : files) {
    const std::string folder = file.substr(0, file.find('/'));
    if (folder.size() == file.size() || !folder.ends_with(ending)) continue;
    const auto parts = split(folder.substr(0, folder.size() - ending.size()), '-');
    if (parts.size() == 2) return WheelName{normal_project(std::string(parts[0])), std::string(parts[1]), ""};
  }
  return std::nullopt;
}

std::string normal_project(std::string name) {
  name = to_lower(name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return name;
}

bool wheel_is_for(const WheelName& wheel, const std::string& os, const std::string& arch) {
  const std::string& platform = wheel.platform;
  if (platform == "any") return true;
  if (os == "windows") return platform == (arch == "x86_64" ? "win_amd64" : "win_" + arch);
  if (os == "macos")
    return platform.starts_with("macosx_") && (platform.ends_with(arch) || platform.ends_with("_universal2"));
  return platform.find("linux") != std::string::npos && platform.ends_with(arch);
}

std::string unnameable_path(const std::vector<std::string>& paths) {
  const auto found = std::find_if_not(paths.begin(), paths.end(), manifest::is_view_path);
  return found == paths.end() ? std::string() : *found;
}

bool names_fit(const std::vector<std::string>& paths, std::uint64_t document_bytes) {
  std::uint64_t bytes = document_bytes;
  for (const std::string& path : paths) bytes += path.size() + bytes_of_an_entry;
  return bytes <= manifest::largest_document && unnameable_path(paths).empty();
}

}  // namespace enginehost::publish
