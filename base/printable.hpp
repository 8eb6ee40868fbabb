// Text for people: untrusted text made safe for a terminal, and arguments quoted for a shell.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace enginehost {

// Untrusted text (manifests, licenses, file names, messages of libraries) made safe for a terminal.

// The first character of a text that is not empty. 0 bytes: the text does not begin with one (RFC 3629: no
// surrogates, no overlong forms).
struct Utf8Character {
  std::size_t bytes = 0;
  std::uint32_t point = 0;
};
Utf8Character first_character(std::string_view text);

// Returns true if every byte belongs to a character of UTF-8.
bool is_utf8(std::string_view text);

// Returns whether a character is a control character, is not seen, or changes the order of those around it,
// so that a text reads as another one. Variation selectors are not among them, because emoji need them.
bool is_unprintable(std::uint32_t point);

// Returns the text with control characters (C0, DEL and C1, the latter also as UTF-8) and invalid UTF-8 bytes
// escaped as "\x1b", and invisible characters and those that change the direction of the text as "\u{202e}".
// Line feeds and tabs stay; a form feed becomes a line break.
std::string printable(std::string_view text);

// Returns the same on one line: line separators become spaces, so that a value cannot imitate a line of
// EngineHost.
std::string printable_line(std::string_view text);

// Quoting for command lines that are printed for people.

// Returns the argument as a shell must read it, quoted if needed, so that a pasted command passes exactly
// this argument. The quoting is for sh and compatible shells (bash, zsh); on Windows for both cmd and
// PowerShell. A leading
// "-" is not protected: no quoting changes how a program reads it.
std::string shell_word(std::string_view text);

}  // namespace enginehost
