// Conversion between the UTF-8 of EngineHost and the UTF-16 of Windows calls, and from Windows error numbers
// to errno; the path of an open file. Only Windows files of modules include this header.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace enginehost::windows {

// Converts to UTF-16. Invalid UTF-8 and unpaired surrogates become U+FFFD.
std::wstring wide(std::string_view utf8);
std::string utf8(std::wstring_view wide);

// Returns the errno that POSIX would use for a Windows error (GetLastError). An error without a POSIX
// counterpart keeps its number, above all values of errno; error_name() and error_text()
// (base/system_errors.hpp) describe it.
int errno_of(std::uint32_t error);
// Returns the Windows number that errno_of() kept; 0 for a real errno.
std::uint32_t windows_error_in(int error_number);

// Returns Windows' text for an error number, in English, without the trailing line break.
std::string error_text(std::uint32_t error);

// The path of an open file, in the file system's spelling and with links resolved.

// Returns the path in the form that allows any length: "\\?\C:\folder", "\\?\UNC\server\share". Empty, with
// GetLastError kept, if there is no such path: the volume has neither a letter nor a mount point, or the path
// has more than 260 characters under Wine 8.
std::wstring extended_final_path(void* handle);

// Returns the path as people and programs write it: "C:\folder", "\\server\share".
std::string final_path(void* handle);
std::string without_prefix(const std::string& path);  // converts the first form to the second

}  // namespace enginehost::windows
