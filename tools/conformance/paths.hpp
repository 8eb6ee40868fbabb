// Paths as text: UTF-8 on every system.
#pragma once
#include <filesystem>
#include <string>

namespace engineplugin {

inline std::filesystem::path path_of(const std::string& text) {
  return std::u8string(text.begin(), text.end());
}

inline std::string path_text(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace engineplugin
