#include "host/platform/platform.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"

namespace enginehost::platform {
namespace {

constexpr std::string_view hexadecimal = "0123456789abcdefABCDEF-";

bool ends_element(std::string_view text, std::size_t at) {
  return at >= text.size() || std::string_view("/\\:;,\" ").find(text[at]) != std::string_view::npos;
}

bool is_of_windows(std::string_view path) { return path.find('\\') != std::string_view::npos; }

// Finds `part` in the text, ignoring case for a Windows path.
std::size_t find_path(const std::string& text, std::string_view part, std::size_t from) {
  return is_of_windows(part) ? to_lower(text).find(to_lower(part), from) : text.find(part, from);
}

// Replaces the text from `prefix` to the end of the path element. Windows user names may contain spaces, so
// there the element ends at the next "\\" if there is one.
void replace_element_after(std::string& text, std::string_view prefix) {
  for (std::size_t at = find_path(text, prefix, 0); at != std::string::npos;
       at = find_path(text, prefix, at)) {
    const std::size_t begin = at + prefix.size();
    std::size_t end = begin;
    while (!ends_element(text, end)) ++end;
    if (const std::size_t next = text.find_first_of("/\\:;,\"", begin);
        is_of_windows(prefix) && next != std::string::npos && text[next] == '\\')
      end = next;
    if (end > begin) text.replace(begin, end - begin, "user");
    at = begin;
  }
}

// Replaces `whole` where it is a complete path, or one complete element of a path.
void replace_whole(std::string& text, std::string_view whole, std::string_view by, bool element) {
  if (whole.size() < 2) return;
  for (std::size_t at = find_path(text, whole, 0); at != std::string::npos; at = find_path(text, whole, at)) {
    const bool begins =
        element ? at > 0 && (text[at - 1] == '/' || text[at - 1] == '\\')
                : at == 0 || (ends_element(text, at - 1) && text[at - 1] != '/') || text[at - 1] == '=';
    if (begins && ends_element(text, at + whole.size())) {
      text.replace(at, whole.size(), by);
      at += by.size();
    } else {
      at += whole.size();
    }
  }
}

void hide_uuids(std::string& text, std::string_view prefix) {
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    const std::size_t begin = at + prefix.size();
    const std::size_t end = std::min(text.find_first_not_of(hexadecimal, begin), text.size());
    if (end - begin >= 4)
      text.replace(begin, end - begin, "…");  // the first digits of a UUID also identify a card
    at = begin;
  }
}

// System accounts with names of folders, whose paths must stay unchanged.
bool names_nobody(std::string_view user) {
  static constexpr std::string_view names[] = {"root",   "bin",  "sbin", "sys",   "dev",   "lib",
                                               "man",    "mail", "news", "games", "proxy", "list",
                                               "backup", "lp",   "sync", "http",  "data",  "daemon"};
  return std::find(std::begin(names), std::end(names), user) != std::end(names);
}

std::string anonymous(std::string text, const Identity& identity) {
  for (const std::string_view prefix : {"MIG-GPU-", "MIG-", "GPU-"}) hide_uuids(text, prefix);
  replace_whole(text, identity.home, "~", false);
  replace_whole(text, identity.other_home, "~", false);
  for (const std::string_view homes : {"/home/", "/homes/", "/users/", "/Users/", "\\Users\\"})
    replace_element_after(text, homes);
  if (!names_nobody(identity.user)) replace_whole(text, identity.user, "user", true);
  return text;
}

}  // namespace

Json anonymous(const Json& document, const Identity& identity) {
  if (document.is_string()) return anonymous(document.as_string(), identity);
  if (document.is_array()) {
    Json copy = Json::array();
    for (const Json& element : document.as_array()) copy.push(anonymous(element, identity));
    return copy;
  }
  if (document.is_object()) {
    Json copy = Json::object();
    for (const auto& [name, value] : document.as_object())
      if (name != "uuid") copy.set(name, anonymous(value, identity));
    return copy;
  }
  return document;
}

}  // namespace enginehost::platform
