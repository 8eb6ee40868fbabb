#include "base/record.hpp"

#include <algorithm>

namespace enginehost {

std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::optional<KeyAndValue> take_key_and_value(std::string_view& text) {
  const auto line = take_line(text);
  if (!line) return std::nullopt;
  const std::size_t space = std::min(line->find(' '), line->size());
  return KeyAndValue{line->substr(0, space), line->substr(std::min(space + 1, line->size()))};
}

void add_key_and_value(std::string& text, std::string_view key, std::string_view value) {
  text.append(key).append(1, ' ').append(value).append(1, '\n');
}

std::string escaped_line(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char character : text) {
    if (character == '\\')
      result += "\\\\";
    else if (character == '\n')
      result += "\\n";
    else if (character == '\r')
      result += "\\r";
    else
      result += character;
  }
  return result;
}

std::string unescaped_line(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    result.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char next = text.size() > 1 ? text[1] : '\\';
    result += next == 'n' ? '\n' : next == 'r' ? '\r' : next;
    text.remove_prefix(std::min<std::size_t>(2, text.size()));
  }
  return result;
}

}  // namespace enginehost
