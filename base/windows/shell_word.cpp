#include "base/shell_word.hpp"

#include <algorithm>

namespace enginehost {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:+\\").find(c) != std::string_view::npos;
}

}  // namespace

// Quotation marks are what cmd and PowerShell have in common. Within them PowerShell knows `$` and the
// backtick, which cmd leaves alone, and cmd the name of a variable between two `%`, which PowerShell leaves
// alone: no way of writing these serves both, and they stay as they are. A backslash counts for the program
// only before a quotation mark.
std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "\"";
  std::size_t backslashes = 0;
  for (const char c : text) {
    if (c == '"') word.append(backslashes + 1, '\\');
    backslashes = c == '\\' ? backslashes + 1 : 0;
    word += c;
  }
  return word.append(backslashes, '\\') + "\"";
}

}  // namespace enginehost
