#include "base/version.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/text.hpp"

namespace enginehost {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_separator(char c) { return c == '.' || c == '-' || c == '_'; }

std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

std::strong_ordering compare_numbers(std::string_view left, std::string_view right) {
  if (left.empty()) left = "0";
  if (right.empty()) right = "0";
  if (left.size() != right.size()) return left.size() <=> right.size();
  return left.compare(right) <=> 0;
}

// Removes "rc1", ".rc.1" or "-RC-1" from the front if its word is one of these.
bool take_mark(std::string_view& text, std::initializer_list<std::string_view> words,
               std::string_view& number) {
  std::string_view rest = text;
  if (!rest.empty() && is_separator(rest[0])) rest.remove_prefix(1);
  const std::string_view word = rest.substr(
      0, static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_letter) - rest.begin()));
  if (std::find(words.begin(), words.end(), to_lower(word)) == words.end()) return false;
  rest.remove_prefix(word.size());
  if (rest.size() > 1 && is_separator(rest[0]) && is_digit(rest[1])) rest.remove_prefix(1);
  number = take_number(rest);
  text = rest;
  return true;
}

// The part of a version after the release numbers.
struct Marks {
  // Before the release (0 only under development, 1 alpha, 2 beta, 3 candidate), 4 the release itself.
  int stage = 4;
  bool is_post = false, is_dev = false;
  std::string_view stage_number, post_number, dev_number;
  std::string_view rest;  // the part that is not PEP 440
};

Marks marks_of(std::string_view text) {
  Marks marks;
  if (take_mark(text, {"a", "alpha"}, marks.stage_number))
    marks.stage = 1;
  else if (take_mark(text, {"b", "beta"}, marks.stage_number))
    marks.stage = 2;
  else if (take_mark(text, {"rc", "c", "pre", "preview"}, marks.stage_number))
    marks.stage = 3;
  marks.is_post = take_mark(text, {"post", "rev", "r"}, marks.post_number);
  if (!marks.is_post && text.size() > 1 && text[0] == '-' && is_digit(text[1])) {
    marks.is_post = true;
    text.remove_prefix(1);
    marks.post_number = take_number(text);
  }
  marks.is_dev = take_mark(text, {"dev"}, marks.dev_number);
  if (marks.is_dev && marks.stage == 4 && !marks.is_post) marks.stage = 0;
  marks.rest = text;
  return marks;
}

// A version text parsed from its front: "1!2.0.1rc1+cpu" is epoch 1, release 2.0.1, and the rest.
struct VersionText {
  explicit VersionText(std::string_view version) : release(version.substr(0, version.find('+'))) {
    if (release.size() > 1 && (release[0] == 'v' || release[0] == 'V') && is_digit(release[1]))
      release.remove_prefix(1);
    std::string_view rest = release;
    const std::string_view number = take_number(rest);
    if (number.empty() || !rest.starts_with('!')) return;
    epoch = number;
    release = rest.substr(1);
  }
  // Reads the next number of the release; false if there is none, and the rest begins with the marks.
  bool next(std::string_view& number) {
    const std::string_view rest = release.starts_with('.') && begun ? release.substr(1) : release;
    if (rest.empty() || !is_digit(rest[0]) || (begun && rest.size() == release.size())) return false;
    release = rest;
    number = take_number(release);
    begun = true;
    return true;
  }
  std::string_view epoch, release;
  bool begun = false;
};

struct Condition {
  std::string_view comparison, version;
};

// The parts of a text in order; an empty text has one empty part. Nothing is copied, because choosing a build
// compares hundreds of versions.
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

// Compares part by part: numbers as numbers, other text as text.
std::strong_ordering compare_others(std::string_view left, std::string_view right) {
  Parts left_parts(left, '.'), right_parts(right, '.');
  for (;;) {
    std::string_view a, b;
    const bool more_left = left_parts.next(a), more_right = right_parts.next(b);
    if (!more_left && !more_right) return std::strong_ordering::equal;
    if (const auto order = compare_numbers(take_number(a), take_number(b)); order != 0) return order;
    if (a != b) return a.compare(b) <=> 0;
  }
}

std::strong_ordering compare_marks(const Marks& left, const Marks& right) {
  if (left.stage != right.stage) return left.stage <=> right.stage;
  if (const auto order = compare_numbers(left.stage_number, right.stage_number); order != 0) return order;
  if (left.is_post != right.is_post) return left.is_post <=> right.is_post;
  if (const auto order = compare_numbers(left.post_number, right.post_number); order != 0) return order;
  if (left.is_dev != right.is_dev) return right.is_dev <=> left.is_dev;
  if (const auto order = compare_numbers(left.dev_number, right.dev_number); order != 0) return order;
  return compare_others(left.rest, right.rest);
}

}  // namespace

std::strong_ordering compare_versions(std::string_view left, std::string_view right) {
  VersionText a(left), b(right);
  if (const auto order = compare_numbers(a.epoch, b.epoch); order != 0) return order;
  for (;;) {
    std::string_view left_number, right_number;
    const bool more_left = a.next(left_number), more_right = b.next(right_number);
    if (!more_left && !more_right) break;
    if (const auto order = compare_numbers(left_number, right_number); order != 0) return order;
  }
  if (a.release == b.release) return std::strong_ordering::equal;
  return compare_marks(marks_of(a.release), marks_of(b.release));
}

bool is_version(std::string_view text) {
  const std::size_t plus = text.find('+');
  const std::string_view label = local_label(text);
  const auto is_of_label = [](char c) { return is_letter(c) || is_digit(c) || is_separator(c); };
  if (plus != std::string_view::npos &&
      (label.empty() || !std::all_of(label.begin(), label.end(), is_of_label) ||
       is_separator(label.front()) || is_separator(label.back())))
    return false;
  VersionText version(text);
  std::string_view number;
  if (!version.next(number)) return false;
  while (version.next(number)) {
  }
  return marks_of(version.release).rest.empty();
}

bool is_prerelease(std::string_view text) {
  VersionText version(text);
  std::string_view number;
  while (version.next(number)) {
  }
  if (version.release.empty()) return false;
  const Marks marks = marks_of(version.release);
  return marks.stage < 4 || marks.is_dev;
}

std::string_view local_label(std::string_view version) {
  const std::size_t plus = version.find('+');
  return plus == std::string_view::npos ? std::string_view() : version.substr(plus + 1);
}

bool has_version_prefix(std::string_view version, std::string_view prefix) {
  if (version == prefix) return true;
  VersionText found(version), wanted(prefix);
  if (compare_numbers(found.epoch, wanted.epoch) != 0) return false;
  std::string_view wanted_number;
  bool is_longer = false;
  while (wanted.next(wanted_number)) {
    is_longer = true;
    std::string_view number = "0";
    // A text without any number is no version, so missing numbers are not zeros.
    if (!found.next(number) && !found.begun) return false;
    if (compare_numbers(number, wanted_number) != 0) return false;
  }
  return is_longer && wanted.release.empty() && local_label(prefix).empty();
}

std::string minor_release_of(std::string_view version) {
  const std::size_t dot = is_version(version) ? version.find('.') : std::string_view::npos;
  return std::string(dot == std::string_view::npos
                         ? version
                         : version.substr(0, version.find_first_not_of("0123456789", dot + 1)));
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
