// A word of a command line that is printed for a person.
#pragma once
#include <string>
#include <string_view>

namespace enginehost {

// So that who pastes it gives the program exactly this argument: as it is where that does, else quoted.
// Elsewhere for sh and those like it (bash, zsh); on Windows for cmd and PowerShell at once. A path that
// begins with "-" is still one: no quoting changes what a program makes of it.
std::string shell_word(std::string_view text);

}  // namespace enginehost
