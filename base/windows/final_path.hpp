// The path of an open file, in the file system's spelling and with links resolved. Only Windows files of
// modules include this header.
#pragma once
#include <string>

namespace enginehost::windows {

// Returns the path in the form that allows any length: "\\?\C:\folder", "\\?\UNC\server\share". Empty, with
// GetLastError kept, if there is no such path: the volume has neither a letter nor a mount point, or the path
// has more than 260 characters under Wine 8.
std::wstring extended_final_path(void* handle);

// Returns the path as people and programs write it: "C:\folder", "\\server\share".
std::string final_path(void* handle);
std::string without_prefix(const std::string& path);  // converts the first form to the second

}  // namespace enginehost::windows
