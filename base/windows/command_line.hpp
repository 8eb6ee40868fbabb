// Program name, arguments and environment of a child on Windows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::windows {

// Returns a command line that the C runtime of the child splits into these arguments ("Parsing C command-line
// arguments" of Microsoft's C++ documentation). argv[0] must not contain a quotation mark.
std::wstring command_line(const std::vector<std::string>& argv);

// Returns this process's environment with the changes ("NAME=value", "NAME" removes), as CreateProcess takes
// it.
std::wstring environment_block(const std::vector<std::string>& changes);

// Returns a path as it is and looks up a plain name in PATH, with ".exe" if it has no extension. Empty if not
// found. The current folder is not searched, although CreateProcess would search it before PATH.
std::wstring find_program(std::string_view name);

}  // namespace enginehost::windows
