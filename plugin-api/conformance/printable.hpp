// Text of a plugin on its way to a terminal.
#pragma once
#include <string>
#include <string_view>

namespace engineplugin {

// The text on one line: what separates lines, and a tab, becomes a space; control characters (C0, DEL and C1)
// and bytes that are no UTF-8 become "\x1b".
std::string printable_line(std::string_view text);

}  // namespace engineplugin
