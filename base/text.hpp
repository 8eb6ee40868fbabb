// Text functions that several modules need.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost {

// Returns a number with its noun: "1 build", "3 builds".
std::string pluralize(std::uint64_t number, std::string_view one, std::string_view several);

// Splits at each separator: split("a::b", ':') is {"a","","b"}. An empty text has one empty element, as ld.so
// reads search paths.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);  // ASCII only

// Returns "1.9 GiB", "64 KiB" or "12 bytes", in binary units.
std::string format_bytes(std::uint64_t bytes);

// Returns the text with each URL in it fit to be shown, stored and passed on: without user and password, query
// and fragment, which may grant access.
std::string without_passwords(std::string_view text);

// Returns two lower-case hexadecimal digits for each byte.
std::string hex_of(std::string_view bytes);

// Returns the text with "%2F" for each byte that is neither an ASCII letter, nor a digit, nor one of `plain`.
std::string percent_encoded(std::string_view text, std::string_view plain);

// Returns the whole text as a decimal number, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Returns whether a path matches: `*` within a path element, `**` across elements, `?` one character except
// '/'.
bool matches_pattern(std::string_view path, std::string_view pattern);

// Returns the nearest candidate at most `limit` edits away, for "did you mean"; nothing if none is that near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                   std::size_t limit = 3);

// Returns "2026-11-20T00:00:00Z" for a time in seconds since 1970.
std::string text_of_time(std::int64_t moment);

}  // namespace enginehost
