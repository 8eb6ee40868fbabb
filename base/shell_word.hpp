// Quoting for command lines that are printed for people.
#pragma once
#include <string>
#include <string_view>

namespace enginehost {

// Returns the argument as a shell must read it, quoted if needed, so that a pasted command passes exactly this
// argument. The quoting is for sh and compatible shells (bash, zsh); on Windows for both cmd and PowerShell. A leading
// "-" is not protected: no quoting changes how a program reads it.
std::string shell_word(std::string_view text);

}  // namespace enginehost
