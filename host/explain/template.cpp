#include "host/explain/template.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::explain {
namespace {

// A longer list ends in "and N more". The evidence has all values.
constexpr std::size_t longest_list = 6;

bool has(const Diagnosis& diagnosis, std::string_view key) {
  return std::any_of(diagnosis.evidence.begin(), diagnosis.evidence.end(),
                     [&](const Evidence& fact) { return fact.what == key; });
}

// Evidence contains plain numbers, which programs can compare.
std::string readable_size(const std::string& value) {
  const auto bytes = parse_integer(value);
  return bytes && *bytes >= 0 ? format_bytes(static_cast<std::uint64_t>(*bytes)) : value;
}

std::string list_of(std::vector<std::string> values) {
  std::vector<std::string> unique;
  for (std::string& value : values)
    if (std::find(unique.begin(), unique.end(), value) == unique.end()) unique.push_back(std::move(value));
  // A semicolon separates members that contain commas.
  const bool commas = std::any_of(unique.begin(), unique.end(), [](const std::string& value) {
    return value.find(", ") != std::string::npos;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(unique.size(), longest_list); ++i)
    text += (i == 0 ? "" : commas ? "; " : ", ") + unique[i];
  if (unique.size() > longest_list) text += " and " + std::to_string(unique.size() - longest_list) + " more";
  return text;
}

// Returns the text for one pair of braces; nothing if its condition fails.
std::optional<std::string> slot(std::string_view inner, const Diagnosis& diagnosis) {
  if (inner.starts_with('?'))
    return has(diagnosis, inner.substr(1)) ? std::optional<std::string>("") : std::nullopt;
  if (inner.starts_with('!'))
    return diagnosis.value(inner.substr(1)).empty() ? std::optional<std::string>("") : std::nullopt;
  if (inner.starts_with('+'))
    return diagnosis.values(inner.substr(1)).size() > 1 ? std::optional<std::string>("") : std::nullopt;
  if (const std::size_t equals = inner.find('='); equals != std::string_view::npos) {
    const std::string_view key = inner.substr(0, equals);
    return has(diagnosis, key) && diagnosis.value(key) == inner.substr(equals + 1)
               ? std::optional<std::string>("")
               : std::nullopt;
  }
  // "{count|build|builds}"
  std::string_view one, several;
  if (const std::size_t first = inner.find('|'), last = inner.rfind('|'); first != last) {
    several = inner.substr(last + 1);
    one = inner.substr(first + 1, last - first - 1);
    inner = inner.substr(0, first);
  }
  bool name_only = false, bytes = false, word = false, list = false;
  if (inner.ends_with("|name")) {
    name_only = true;
    inner.remove_suffix(5);
  }
  if (inner.ends_with("|bytes")) {
    bytes = true;
    inner.remove_suffix(6);
  }
  if (inner.ends_with("|word")) {
    word = true;
    inner.remove_suffix(5);
  }
  if (inner.ends_with("...")) {
    list = true;
    inner.remove_suffix(3);
  }
  std::vector<std::string> values = diagnosis.values(inner);
  if (values.empty()) return std::nullopt;
  if (!list) values.resize(1);
  if (name_only) std::transform(values.begin(), values.end(), values.begin(), file_name);
  if (bytes) std::transform(values.begin(), values.end(), values.begin(), readable_size);
  if (word) std::transform(values.begin(), values.end(), values.begin(), shell_word);
  std::string text = list_of(std::move(values));
  if (!one.empty() && !text.empty()) text += " " + std::string(text == "1" ? one : several);
  if (text.empty()) return std::nullopt;
  return text;
}

// Puts the engine that failed, if it is known, into "engine-info ENGINE --plan".
std::string with_engine(std::string_view literal, const Diagnosis& diagnosis) {
  constexpr std::string_view written = "engine-info ENGINE ";
  const std::string_view engine = diagnosis.value("engine");
  std::string text(literal);
  if (engine.empty()) return text;
  const std::string named = "engine-info " + shell_word(engine) + " ";
  for (std::size_t at = 0; (at = text.find(written, at)) != std::string::npos; at += named.size())
    text.replace(at, written.size(), named);
  return text;
}

}  // namespace

std::string file_name(const std::string& path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::optional<std::string> fill(std::string_view text, const Diagnosis& diagnosis) {
  std::string sentence;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    sentence += with_engine(text.substr(0, open), diagnosis);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    const auto value = slot(text.substr(open + 1, close - open - 1), diagnosis);
    if (!value) return std::nullopt;
    sentence += *value;
    text.remove_prefix(close + 1);
  }
  return sentence;
}

}  // namespace enginehost::explain
