// Between the UTF-8 of EngineHost and the UTF-16 of Windows' calls, and its error numbers as errno. Included
// by the Windows files of modules only.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace enginehost::windows {

// Bytes that are no UTF-8, and lone halves of pairs, become U+FFFD.
std::wstring wide(std::string_view utf8);
std::string utf8(std::wstring_view wide);

// The errno that POSIX would give for an error of Windows (GetLastError). One that POSIX has no word for keeps its
// number, above all of errno's: error_name() and error_text() (base/system_errors.hpp) tell it in Windows' words.
int errno_of(std::uint32_t error);
// The number of Windows that errno_of() kept so; 0 for those of errno.
std::uint32_t windows_error_in(int error_number);

// Windows' own words for an error number, in English, without their line's end.
std::string error_text(std::uint32_t error);

}  // namespace enginehost::windows
