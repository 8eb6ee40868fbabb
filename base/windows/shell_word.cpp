#include "base/printable.hpp"

#include <algorithm>

namespace enginehost {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:+\\").find(c) != std::string_view::npos;
}

}  // namespace

// Quotation marks are common to cmd and PowerShell. Within them, PowerShell expands `$` and the backtick, and
// cmd expands `%NAME%`. No spelling is right for both, so these stay as they are. For the program, a
// backslash counts only before a quotation mark.
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
