#include "host/transfer/server_message.hpp"

#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

// Joins the lines, and cuts between two characters. Empty if the text is not UTF-8.
std::string tidied(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = first_character(text.substr(at));
    if (character.bytes == 0) return {};
    const bool is_space = character.point <= 0x20 || (character.point >= 0x7f && character.point < 0xa0);
    if (line.size() + character.bytes > longest_server_message) return line + "…";
    if (!is_space)
      line += text.substr(at, character.bytes);
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
    at += character.bytes;
  }
  return std::string(trim(line));
}

// Returns the first text that is a message, in the value of one of the names below.
std::string message_in(const Json& value, int depth = 0) {
  if (!value.as_string().empty()) return value.as_string();
  if (depth == 3) return {};
  for (const Json& element : value.as_array())
    if (std::string found = message_in(element, depth + 1); !found.empty()) return found;
  for (const char* name :
       {"errors", "message", "detail", "details", "error", "msg", "reason", "title", "code"})
    if (const Json* member = value.find(name))
      if (std::string found = message_in(*member, depth + 1); !found.empty()) return found;
  return {};
}

}  // namespace

std::string message_of_server(std::string_view body) {
  if (const auto title = title_of_page(body)) return tidied(*title);
  const std::string_view text = trim(body);
  if (text.starts_with('{') || text.starts_with('[') || text.starts_with('"')) {
    const auto document = parse_json(text, "error", {64u << 10, 16});
    return document ? tidied(message_in(*document)) : std::string();
  }
  if (!text.starts_with('<')) return tidied(text);
  constexpr std::string_view opens = "<Message>";
  const std::size_t open = text.find(opens), close = text.find("</Message>");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return tidied(text.substr(open + opens.size(), close - open - opens.size()));
}

void add_what_came(Diagnosis& diagnosis, std::string_view head, std::uint64_t size) {
  if (head.starts_with("version https://git-lfs")) {
    diagnosis.with(Key::git_lfs, "yes", "the first bytes");
    return;
  }
  // A longer text may be the beginning of a file that is a text itself.
  const bool is_document = head.starts_with('{') || head.starts_with('[') || head.starts_with('<');
  const bool is_text = head.find('\0') == std::string_view::npos;
  if (is_text && size <= head.size() && (is_document || size <= longest_server_message)) {
    if (const std::string said = message_of_server(head); !said.empty())
      diagnosis.with(Key::says, said, "the bytes that came");
  }
}

}  // namespace enginehost::transfer
