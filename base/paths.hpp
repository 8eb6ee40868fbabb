// Paths as text. Text is UTF-8 everywhere inside EngineHost; what a system's calls want is made at the call.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace enginehost {

namespace paths_inside {
inline const std::string& as_utf8(const std::string& native) { return native; }
std::string as_utf8(const std::wstring& native);
inline const std::string& with_slashes(const std::string& native) { return native; }
std::string with_slashes(const std::wstring& native);
inline std::filesystem::path from_utf8(std::string_view text, char) { return std::filesystem::path(text); }
std::filesystem::path from_utf8(std::string_view text, wchar_t);
}  // namespace paths_inside

// The path of a text. A path made of a text without this would be read in the code page of the process on
// Windows; only a literal of ASCII may be.
inline std::filesystem::path path_of(std::string_view utf8) {
  return paths_inside::from_utf8(utf8, std::filesystem::path::value_type());
}

// The path as people and documents see it. Where paths are bytes, the path's own text (a reference that lives
// as long as the path; nothing is copied); on Windows its UTF-8 form, with every "/" as "\".
inline decltype(auto) path_text(const std::filesystem::path& path) {
  return paths_inside::as_utf8(path.native());
}

// The same with "/" between its elements on every system: paths in archives, lists and documents.
inline decltype(auto) generic_text(const std::filesystem::path& path) {
  return paths_inside::with_slashes(path.native());
}

// The text of "folder/name/name", for who looks at files at every open: path objects cost more than the look.
inline std::string text_below(const std::filesystem::path& folder,
                              std::initializer_list<std::string_view> names) {
  std::string text = path_text(folder);
  std::size_t size = text.size();
  for (const std::string_view name : names) size += 1 + name.size();
  text.reserve(size + 16);  // callers put an ending behind it
  for (const std::string_view name : names)
    text.append(1, static_cast<char>(std::filesystem::path::preferred_separator)).append(name);
  return text;
}

}  // namespace enginehost
