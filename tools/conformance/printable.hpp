// Makes text of a plugin safe for a terminal.
#pragma once
#include <string>
#include <string_view>

namespace engineplugin {

// Returns the text on one line: line separators and tabs become a space; control characters (C0, DEL and C1)
// and bytes that are no UTF-8 become "\x1b".
std::string printable_line(std::string_view text);

}  // namespace engineplugin
