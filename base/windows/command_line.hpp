// How a program is named, told its arguments and given its environment on Windows.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::windows {

// One line that the C runtime of the child splits into these arguments again ("Parsing C command-line
// arguments" of Microsoft's C++ documentation). argv[0] must not hold a quotation mark.
std::wstring command_line(const std::vector<std::string>& argv);

// The process's own environment with these changes ("NAME=value", "NAME" removes), as CreateProcess takes it.
std::wstring environment_block(const std::vector<std::string>& changes);

// A path as it is; a plain name is looked for in PATH, with ".exe" where it has no ending. Empty when it is
// nowhere. The current folder is not looked into: CreateProcess would, before PATH.
std::wstring find_program(std::string_view name);

}  // namespace enginehost::windows
