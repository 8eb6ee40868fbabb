// Small text helpers that several modules need.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost {

// split("a::b", ':') is {"a","","b"}; an empty text has one empty element, as ld.so reads search paths.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);  // ASCII only

// "1.9 GiB", "64 KiB", "12 bytes": binary units, as people compare with what their disk tools print.
std::string format_bytes(std::uint64_t bytes);

// Each "scheme://user:password@" in it without what lies before the '@': what is told, kept or handed on holds nobody's
// password.
std::string without_passwords(std::string_view text);

// The whole text as a decimal number, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);

// `*` matches within a path element, `**` across them, `?` one character other than '/'.
bool matches_pattern(std::string_view path, std::string_view pattern);

// At most `limit` edits away, for "did you mean"; nothing when no candidate is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                   std::size_t limit = 3);

}  // namespace enginehost
