// Paths as text. Text is UTF-8 everywhere in EngineHost and is converted only where a system call needs another form.
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

// Returns the path of a UTF-8 text. Only ASCII literals may become a path without it, because Windows reads other text
// in the process's code page.
inline std::filesystem::path path_of(std::string_view utf8) {
  return paths_inside::from_utf8(utf8, std::filesystem::path::value_type());
}

// Returns the path as people and documents see it. Where paths are bytes, it is a reference to the path's own text,
// valid as long as the path. On Windows it is the UTF-8 form with "\" for every "/".
inline decltype(auto) path_text(const std::filesystem::path& path) {
  return paths_inside::as_utf8(path.native());
}

// Returns the same with "/" between elements on every system, for paths in archives, lists and documents.
inline decltype(auto) generic_text(const std::filesystem::path& path) {
  return paths_inside::with_slashes(path.native());
}

// Returns "folder/name/name" as text, for lookups at every open: path objects cost more than the lookup itself.
inline std::string text_below(const std::filesystem::path& folder,
                              std::initializer_list<std::string_view> names) {
  std::string text = path_text(folder);
  std::size_t size = text.size();
  for (const std::string_view name : names) size += 1 + name.size();
  text.reserve(size + 16);  // callers append an extension
  for (const std::string_view name : names)
    text.append(1, static_cast<char>(std::filesystem::path::preferred_separator)).append(name);
  return text;
}

}  // namespace enginehost
