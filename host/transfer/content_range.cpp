#include "host/transfer/content_range.hpp"

#include <charconv>

namespace enginehost::transfer {

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || after == text.data()) return {};
  return value;
}

ContentRange read_content_range(std::string_view value) {
  ContentRange range;
  if (!value.starts_with("bytes ")) return range;
  value.remove_prefix(6);
  range.start = leading_number(value);
  if (const std::size_t slash = value.find('/'); slash != std::string_view::npos)
    range.total = leading_number(value.substr(slash + 1));
  return range;
}

}  // namespace enginehost::transfer
