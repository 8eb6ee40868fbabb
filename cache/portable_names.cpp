#include "cache/portable_names.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/names_in_utf8.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::cache {
namespace {

// Returns the code points of UTF-8 text; nothing if it is not UTF-8.
std::optional<std::u32string> decoded(std::string_view text) {
  std::u32string result;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.bytes == 0) return {};
    result += static_cast<char32_t>(character.point);
    text.remove_prefix(character.bytes);
  }
  return result;
}

// Letters with these marks have a composed form, or an order of marks that is not fixed. Composing needs
// Unicode's tables; an engine's files do not need such names.
bool is_combining(char32_t point) {
  const auto within = [&](char32_t from, char32_t to) { return from <= point && point <= to; };
  return within(0x300, 0x36f) || within(0x1ab0, 0x1aff) || within(0x1dc0, 0x1dff) || within(0x20d0, 0x20ff) ||
         within(0xfe20, 0xfe2f) || within(0x1160, 0x11ff) || within(0x3099, 0x309a);
}

// Microsoft, "Naming Files, Paths, and Namespaces": device names also count with an extension.
bool is_device(std::string_view part) {
  std::string name = to_lower(part.substr(0, part.find('.')));
  name.erase(std::find_if(name.rbegin(), name.rend(), [](char c) { return c != ' '; }).base(), name.end());
  for (const char* device : {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"})
    if (name == device) return true;
  if (!name.starts_with("com") && !name.starts_with("lpt")) return false;
  const std::string_view number = std::string_view(name).substr(3);
  for (const std::string_view superscript : {"\xc2\xb9", "\xc2\xb2", "\xc2\xb3"})
    if (number == superscript) return true;
  return number.size() == 1 && number[0] >= '0' && number[0] <= '9';
}

}  // namespace

std::string_view name_problem(std::string_view path) {
  const auto points = decoded(path);
  if (!points) return "its name is not UTF-8";
  if (std::any_of(points->begin(), points->end(), is_unprintable)) return "an invisible character";
  if (std::any_of(points->begin(), points->end(), is_combining)) return "a combining mark";
  if (path.find(':') != std::string_view::npos) return "a colon";
  if (path.find_first_of("<>\"|?*") != std::string_view::npos) return "a character that Windows refuses";
  for (const std::string& part : split(path, '/')) {
    if (part == "." || part == "..") continue;
    if (part.ends_with('.') || part.ends_with(' ')) return "a part ends with a dot or a space";
    if (is_device(part)) return "a device of Windows";
  }
  return {};
}

std::string Spellings::clash(std::string_view path) {
  const bool plain = std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::optional<NamesInUtf8> locale;
  if (!plain) locale.emplace();
  std::uint32_t folder = 0;
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = path.find('/', begin);
    const std::string part(path.substr(begin, end == std::string_view::npos ? end : end - begin));
    std::u32string folded = decoded(part).value_or(std::u32string());
    for (char32_t& point : folded) point = without_case(point);
    const auto next = static_cast<std::uint32_t>(known_.size() + 1);
    const auto [known, fresh] =
        known_.try_emplace(std::pair(folder, std::move(folded)), KnownName{part, next});
    if (!fresh && known->second.part != part) return std::string(path.substr(0, begin)) + known->second.part;
    folder = known->second.number;
  }
  return {};
}

}  // namespace enginehost::cache
