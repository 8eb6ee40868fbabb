// Where an open file lies, as the file system spells it, links followed. Included by the Windows files of
// modules only.
#pragma once
#include <string>

namespace enginehost::windows {

// As Windows' calls take it at any length: "\\?\C:\folder", "\\?\UNC\server\share". Empty, with GetLastError
// kept, where Windows has no such path: the file's volume has neither a letter nor a place, or, under Wine 8,
// the path has more than 260 characters.
std::wstring extended_final_path(void* handle);

// As people and other programs take it: "C:\folder", "\\server\share".
std::string final_path(void* handle);
std::string without_prefix(const std::string& path);  // the one as the other

}  // namespace enginehost::windows
