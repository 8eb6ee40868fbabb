// Text of strangers (manifests, licenses, file names, what a library said) on its way to a terminal.
#pragma once
#include <string>
#include <string_view>

namespace enginehost {

// True when every byte belongs to a character of UTF-8 (RFC 3629: no surrogates, no longer form than needed).
bool is_utf8(std::string_view text);

// The text without what a terminal would act upon: control characters (C0, DEL and C1, these also as UTF-8)
// and bytes that are no UTF-8 become "\x1b". Line feeds and tabs stay; a form feed begins a line.
std::string printable(std::string_view text);

// The same on one line: what separates lines becomes a space, so that no value can pass for a line of ours.
std::string printable_line(std::string_view text);

}  // namespace enginehost
