#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <utility>

namespace enginehost {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return pluralize(bytes, "byte", "bytes");
  static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // A value that rounds to 1024 moves to the next unit; one that rounds to 10.0 has no decimal.
  while (value >= 1023.5 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

namespace {

constexpr std::string_view white = " \t\r\n", begins_query = "?#";

// Returns the length of "user:password@" at the start of what follows "://". The last '@' before the path
// counts, because a password may hold one. "user:pass/word@host" is no URL, but somebody may have written it.
std::size_t length_of_user(std::string_view url) {
  const std::string_view authority = url.substr(0, url.find_first_of("/?# \t\r\n\"'<>"));
  const std::size_t user = authority.rfind('@'), colon = authority.rfind(':');
  if (user != std::string_view::npos) return user + 1;
  if (colon == std::string_view::npos || authority.starts_with('[')) return 0;
  if (authority.find_first_not_of("0123456789", colon + 1) == std::string_view::npos) return 0;
  return url.substr(0, url.find_first_of(" \t\r\n\"'<>")).rfind('@') + 1;  // npos + 1 is 0
}

// Returns the URL at the start of the text as it is shown, and how much of the text it is. `ends`: the
// characters that end it; a query may hold any other.
std::pair<std::string_view, std::size_t> shown_url(std::string_view text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view url = text.substr(0, end);
  const std::size_t query = url.find_first_of(begins_query);
  // A sentence may end in a question mark, or in another mark behind the URL.
  if (query == std::string_view::npos || (query + 1 == url.size() && !ends.empty())) return {url, end};
  return {url.substr(0, query), ends.empty() ? end : url.find_last_not_of(",.;:)'") + 1};
}

std::string without_outer_passwords(std::string_view text) {
  constexpr std::string_view before_host = "://";
  // A query of a text that is nothing but a URL ends with the text. In JSON and in sentences quotes end it.
  const bool is_url_alone = text.find_first_of(white) == std::string_view::npos &&
                            text.find_first_of(":\"'<>\\?#") == text.find(before_host);
  const std::string_view ends = is_url_alone ? std::string_view() : " \t\r\n\"<>\\";
  std::string result;
  for (std::size_t at = text.find(before_host); at != std::string_view::npos; at = text.find(before_host)) {
    at += before_host.size();
    result.append(text.substr(0, at));
    text.remove_prefix(at);
    text.remove_prefix(length_of_user(text));
    const auto [shown, length] = shown_url(text, ends);
    // Another URL may stand in the same word: "https://a,https://b".
    const std::size_t next = shown.find(before_host);
    if (next != std::string_view::npos) continue;
    result.append(shown);
    text.remove_prefix(length);
  }
  return result.append(text);
}

}  // namespace

std::string without_passwords(std::string_view text) {
  // The rest may look like a user and a password again: "u:p@host:word/more:x@".
  std::string shorter = without_outer_passwords(text);
  for (std::string before; before != shorter;) {
    before = std::move(shorter);
    shorter = without_outer_passwords(before);
  }
  return shorter;
}

std::string pluralize(std::uint64_t number, std::string_view one, std::string_view several) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : several);
}

std::string hex_of(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char character : bytes) {
    const auto byte = static_cast<unsigned char>(character);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string percent_encoded(std::string_view text, std::string_view plain) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        plain.find(c) != std::string_view::npos)
      result += c;
    else
      result.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  }
  return result;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool matches_pattern(std::string_view path, std::string_view pattern) {
  // Decides most pairs without the sets below: 12,000 names and 4 patterns take 13 ms instead of 830.
  const std::size_t wildcard = pattern.find_first_of("*?");
  if (wildcard == std::string_view::npos) return path == pattern;
  if (!path.starts_with(pattern.substr(0, wildcard))) return false;
  // reached[t]: the pattern so far can match the first t characters of the path. Each pattern step updates
  // the whole set, so the time is bounded by the product of both lengths.
  std::vector<bool> reached(path.size() + 1), next(path.size() + 1);
  reached[0] = true;
  for (std::size_t p = 0; p < pattern.size();) {
    const bool deep = pattern.substr(p).starts_with("**");
    if (pattern[p] == '*') {
      bool running = false;
      for (std::size_t t = 0; t <= path.size(); ++t) {
        if (!deep && t > 0 && path[t - 1] == '/') running = false;
        running = running || reached[t];
        next[t] = running;
      }
      p += deep ? 2 : 1;
      if (deep && p < pattern.size() && pattern[p] == '/') {  // "**/" also matches no folder at all
        for (std::size_t t = path.size() + 1; t-- > 0;) {
          const bool after_slash = t > 0 && path[t - 1] == '/';
          next[t] = (after_slash && next[t - 1]) || (reached[t] && (t == 0 || after_slash));
        }
        ++p;
      }
    } else {
      next[0] = false;
      for (std::size_t t = 1; t <= path.size(); ++t)
        next[t] = reached[t - 1] && (pattern[p] == path[t - 1] || (pattern[p] == '?' && path[t - 1] != '/'));
      ++p;
    }
    reached.swap(next);
  }
  return reached[path.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                   std::size_t limit) {
  std::optional<std::string> best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t above = row[j + 1];
        row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, diagonal + (word[i] == candidate[j] ? 0u : 1u)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance && row.back() < std::max(word.size(), candidate.size())) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

// Avoids gmtime(), whose result is shared among threads; its thread-safe variants have another name on each
// system.
std::string text_of_time(std::int64_t moment) {
  using namespace std::chrono;
  const sys_time<seconds> time{seconds{moment}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace enginehost
