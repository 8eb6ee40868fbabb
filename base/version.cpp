#include "base/version.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace enginehost {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits one part into its number and the text after it; leading zeros do not count.
std::pair<std::string_view, std::string_view> number_and_text(std::string_view part) {
  std::size_t end = 0;
  while (end < part.size() && is_digit(part[end])) ++end;
  std::string_view number = part.substr(0, end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return {number, part.substr(end)};
}

bool is_prerelease(std::string_view text) {
  return text.starts_with("a") || text.starts_with("b") || text.starts_with("rc") ||
         text.starts_with("dev") || text.starts_with("-") || text.starts_with("pre");
}

std::strong_ordering compare_parts(std::string_view left, std::string_view right) {
  auto [left_number, left_text] = number_and_text(left);
  auto [right_number, right_text] = number_and_text(right);
  if (left_number.empty()) left_number = "0";
  if (right_number.empty()) right_number = "0";
  if (left_number.size() != right_number.size()) return left_number.size() <=> right_number.size();
  if (left_number != right_number) return left_number.compare(right_number) <=> 0;
  if (left_text == right_text) return std::strong_ordering::equal;
  if (is_prerelease(left_text) != is_prerelease(right_text))
    return is_prerelease(left_text) ? std::strong_ordering::less : std::strong_ordering::greater;
  return left_text.compare(right_text) <=> 0;
}

struct Condition {
  std::string_view comparison, version;
};

// The parts of a text one after another, of an empty text one empty part. Deciding compares versions by the
// hundred, so that nothing here is copied or kept.
class Parts {
 public:
  Parts(std::string_view text, char separator) : rest_(text), separator_(separator) {}
  bool next(std::string_view& part) {
    if (done_) return false;
    const std::size_t end = rest_.find(separator_);
    part = rest_.substr(0, end);
    done_ = end == std::string_view::npos;
    if (!done_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false;
};

Condition condition_of(std::string_view text) {
  const std::string_view one = trim(text);
  const std::size_t length = one.find_first_not_of("<>=");
  return {one.substr(0, length), length == std::string_view::npos ? "" : trim(one.substr(length))};
}

}  // namespace

std::strong_ordering compare_versions(std::string_view left, std::string_view right) {
  // What follows "+" is a local label (2.0.1+cu118) and says nothing about the order.
  Parts left_parts(left.substr(0, left.find('+')), '.'), right_parts(right.substr(0, right.find('+')), '.');
  for (;;) {
    std::string_view a = "0", b = "0";
    const bool more_left = left_parts.next(a), more_right = right_parts.next(b);
    if (!more_left && !more_right) return std::strong_ordering::equal;
    if (const auto order = compare_parts(a, b); order != 0) return order;
  }
}

bool has_version_prefix(std::string_view version, std::string_view prefix) {
  if (!version.starts_with(prefix)) return false;
  return version.size() == prefix.size() || version[prefix.size()] == '.' || version[prefix.size()] == '+';
}

bool is_version_requirement(std::string_view requirement) {
  std::string_view part;
  for (Parts parts(requirement, ','); parts.next(part);) {
    const auto [comparison, version] = condition_of(part);
    constexpr std::string_view known[] = {"", ">=", ">", "<=", "<", "=="};
    if (version.empty() || !is_digit(version[0])) return false;
    if (std::find(std::begin(known), std::end(known), comparison) == std::end(known)) return false;
  }
  return true;
}

bool satisfies(std::string_view version, std::string_view requirement) {
  std::string_view part;
  for (Parts parts(requirement, ','); parts.next(part);) {
    const auto [comparison, wanted] = condition_of(part);
    const auto order = compare_versions(version, wanted);
    const bool holds = comparison == ">"    ? order > 0
                       : comparison == "<"  ? order < 0
                       : comparison == "<=" ? order <= 0
                       : comparison == "==" ? order == 0
                                            : order >= 0;
    if (!holds) return false;
  }
  return true;
}

}  // namespace enginehost
