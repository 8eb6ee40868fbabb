// Text files of records: a first line that names the format and its version, then one `key value` a line. The functions
// take what they read from the front of the text.
#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace enginehost {

// Takes the next line. Returns it without its end, or nothing (and takes nothing) if no line ends.
std::optional<std::string_view> take_line(std::string_view& text);

// Takes the next line of a record. A line without a space is a key without a value. Nothing: as take_line().
struct KeyAndValue {
  std::string_view key, value;
};
std::optional<KeyAndValue> take_key_and_value(std::string_view& text);

// Takes a decimal number and the separator behind it. Returns false (and takes nothing) unless a number is followed by
// the separator or ends the text.
template <class Number>
bool take_number(std::string_view& text, Number& number, char separator = ' ') {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || (after != end && *after != separator)) return false;
  text.remove_prefix(static_cast<std::size_t>(after - text.data()) + (after != end ? 1 : 0));
  return true;
}

// Appends a line.
void add_key_and_value(std::string& text, std::string_view key, std::string_view value);

// A value is one line: "\\", "\n" and "\r" are written as two characters. The last "\" of a text stands for itself.
std::string escaped_line(std::string_view text);
std::string unescaped_line(std::string_view text);

}  // namespace enginehost
