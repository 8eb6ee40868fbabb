#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "tools/follow/plan.hpp"

namespace enginehost::follow {
namespace {

// "1.4" of "1.4.2": what "~=" leaves open below.
std::string_view without_last_number(std::string_view version) {
  const std::size_t dot = version.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : version.substr(0, dot);
}

bool in_one_range(std::string_view version, std::string_view range) {
  const std::size_t length = std::min(range.find_first_not_of("<>=!~"), range.size());
  const std::string_view comparison = range.substr(0, length), bound = trim(range.substr(length));
  const std::size_t star = bound.ends_with(".*") ? 2 : 0;
  const std::string_view plain = bound.substr(0, bound.size() - star);
  const bool equal = star != 0 ? has_version_prefix(version, plain) : compare_versions(version, plain) == 0;
  if (comparison == "==" || comparison == "===") return equal;
  if (comparison == "!=") return !equal;
  if (comparison == "~=")
    return compare_versions(version, bound) >= 0 && has_version_prefix(version, without_last_number(bound));
  const auto order = compare_versions(version, bound);
  return comparison == ">="   ? order >= 0
         : comparison == "<=" ? order <= 0
         : comparison == ">"  ? order > 0
                              : order < 0;
}

}  // namespace

bool in_range(std::string_view version, std::string_view range) {
  const std::vector<std::string> parts = split(range, ',');
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    const std::string_view one = trim(part);
    return one.empty() || in_one_range(version, one);
  });
}

std::string minor_of(std::string_view version) {
  const std::size_t first = version.find('.');
  if (first == std::string_view::npos) return std::string(version);
  const std::size_t end = version.find_first_not_of("0123456789", first + 1);
  return std::string(version.substr(0, end));
}

bool is_range(std::string_view text) {
  const std::vector<std::string> parts = split(text, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    std::string_view one = trim(part);
    const std::size_t length = std::min(one.find_first_not_of("<>=!~"), one.size());
    const std::string_view comparison = one.substr(0, length);
    one = trim(one.substr(length));
    const bool may_have_star = comparison == "==" || comparison == "!=";
    if (may_have_star && one.ends_with(".*")) one.remove_suffix(2);
    if (comparison == "~=" && one.find('.') == std::string_view::npos) return false;
    for (const std::string_view known : {"~=", "==", "===", "!=", ">=", "<=", ">", "<"})
      if (comparison == known) return is_version(one);
    return false;
  });
}

}  // namespace enginehost::follow
