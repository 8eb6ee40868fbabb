#include "base/printable.hpp"

#include <algorithm>

namespace enginehost {
namespace {

// Letters beyond ASCII are not plain, because some of them are blanks.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:,+@%=").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  // zsh replaces a leading "=name" with the path of a program.
  if (!text.empty() && text.front() != '=' && std::all_of(text.begin(), text.end(), is_plain))
    return std::string(text);
  std::string word = "'";
  for (const char c : text)
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  return word + "'";
}

}  // namespace enginehost
