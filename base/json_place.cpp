#include "base/json_place.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace enginehost {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// Walks through the text of a valid document.
class TextWalk {
 public:
  explicit TextWalk(std::string_view text) : text_(text) { skip_blanks(); }

  std::size_t at() const { return at_; }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void step() {
    ++at_;
    skip_blanks();
  }
  std::string_view take_string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::string_view string = text_.substr(begin, at_ - begin);
    step();
    return string;
  }
  void skip_value() {
    std::size_t depth = 0;
    do {
      const char first = here();
      if (first == '"') {
        take_string();
      } else if (first == '{' || first == '[') {
        ++depth;
        step();
      } else if (first == '}' || first == ']') {
        --depth;
        step();
      } else if (first == ',' || first == ':') {
        step();
      } else {
        at_ = std::min(text_.find_first_of(",:]} \t\r\n", at_), text_.size());
        skip_blanks();
      }
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Enters the member of that name; returns the place of its name, and stands at its value.
std::size_t enter_member(TextWalk& walk, std::string_view name) {
  if (walk.here() != '{') return npos;
  walk.step();
  while (walk.here() == '"') {
    const std::size_t begin = walk.at();
    const bool found = walk.take_string() == name;
    walk.step();  // ":"
    if (found) return begin;
    walk.skip_value();
    if (walk.here() == ',') walk.step();
  }
  return npos;
}

std::size_t enter_element(TextWalk& walk, std::size_t index) {
  if (walk.here() != '[') return npos;
  walk.step();
  for (; index > 0 && walk.here() != ']'; --index) {
    walk.skip_value();
    if (walk.here() == ',') walk.step();
  }
  return walk.here() == ']' ? npos : walk.at();
}

}  // namespace

TextPlace place_of_byte(std::string_view text, std::size_t byte) {
  TextPlace place;
  for (const char character : text.substr(0, byte)) {
    ++place.column;
    if (character == '\n') place = {place.line + 1, 1};
  }
  return place;
}

TextPlace place_of_mistake(std::string_view text, const Diagnosis& mistake) {
  const std::string bytes_read(mistake.value(Key::position));
  return place_of_byte(
      text, static_cast<std::size_t>(std::max<std::int64_t>(parse_integer(bytes_read).value_or(0), 1) - 1));
}

TextPlace place_of_member(std::string_view text, std::string_view member) {
  TextWalk walk(text);
  std::size_t byte = walk.at();
  while (!member.empty()) {
    std::size_t found = npos;
    if (member.front() == '[') {
      const std::size_t end = member.find(']');
      if (end == npos) break;
      std::size_t index = 0;
      for (const char digit : member.substr(1, end - 1))
        index = index * 10 + static_cast<std::size_t>(digit - '0');
      found = enter_element(walk, index);
      member.remove_prefix(end + 1);
    } else {
      if (member.front() == '.') member.remove_prefix(1);
      const std::size_t end = std::min(member.find_first_of(".["), member.size());
      found = enter_member(walk, member.substr(0, end));
      member.remove_prefix(end);
    }
    if (found == npos) break;
    byte = found;
  }
  return place_of_byte(text, byte);
}

}  // namespace enginehost
