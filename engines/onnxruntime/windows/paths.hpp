// Converts paths of this system to and from the UTF-8 of the plugin interface.
#pragma once
#include <filesystem>
#include <string>

namespace enginehost::engines::onnxruntime {

inline std::filesystem::path path_of(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

}  // namespace enginehost::engines::onnxruntime
