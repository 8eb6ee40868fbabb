#include "tools/follow/metadata.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "base/version.hpp"
#include "tools/publish/names.hpp"

namespace enginehost::follow {
namespace {

constexpr std::size_t most_requirements = 10'000;
constexpr int deepest_marker = 20;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// Drops "(", ")" around a specifier, and blanks.
std::string plain_specifier(std::string_view text) {
  std::string_view inner = trim(text);
  if (inner.starts_with('(') && inner.ends_with(')')) inner = inner.substr(1, inner.size() - 2);
  std::string plain;
  for (const char c : inner)
    if (c != ' ' && c != '\t') plain += c;
  return plain;
}

// A marker: or, and, parentheses, comparisons. Nothing stands for "unknown", which "or" and "and" pass on
// unless the other side decides.
class Marker {
 public:
  Marker(std::string_view text, const Target& target) : rest_(text), target_(target) {}

  std::optional<bool> value() {
    const auto result = any_of(0);
    skip();
    return broken_ || !rest_.empty() ? std::nullopt : result;
  }

 private:
  using Value = std::optional<bool>;
  struct Operand {
    std::string text;
    bool known = false;
    bool is_extra = false;
  };

  void skip() { rest_ = trim(rest_); }
  bool take(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    const bool is_word = std::isalpha(static_cast<unsigned char>(word.front())) != 0;
    if (is_word && rest_.size() > word.size() && is_name_character(rest_[word.size()])) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  Value any_of(int depth) {
    Value value = all_of(depth);
    while (!broken_ && take("or")) {
      const Value other = all_of(depth);
      value = value == true || other == true ? Value(true) : value && other ? Value(false) : Value();
    }
    return value;
  }
  Value all_of(int depth) {
    Value value = one(depth);
    while (!broken_ && take("and")) {
      const Value other = one(depth);
      value = value == false || other == false ? Value(false) : value && other ? Value(true) : Value();
    }
    return value;
  }
  Value one(int depth) {
    if (depth > deepest_marker) broken_ = true;
    if (broken_) return {};
    if (take("(")) {
      const Value value = any_of(depth + 1);
      if (!take(")")) broken_ = true;
      return value;
    }
    const Operand left = operand();
    std::string_view comparison;
    for (const std::string_view known : {"===", "~=", "==", "!=", "<=", ">=", "<", ">", "in", "not in"})
      if (take(known)) {
        comparison = known;
        break;
      }
    if (broken_ || comparison.empty()) {
      broken_ = true;
      return {};
    }
    const Operand right = operand();
    if (broken_ || !left.known || !right.known) return {};
    if (left.is_extra || right.is_extra) return extra(left, right, comparison);
    if (comparison == "==") return left.text == right.text;
    if (comparison == "!=") return left.text != right.text;
    if (comparison == "in") return right.text.find(left.text) != std::string::npos;
    if (comparison == "not in") return right.text.find(left.text) == std::string::npos;
    return {};  // an order of names
  }

  Value extra(const Operand& left, const Operand& right, std::string_view comparison) const {
    const std::string name = publish::normal_project(left.is_extra ? right.text : left.text);
    const bool asked = std::ranges::find(target_.extras, name) != target_.extras.end();
    if (comparison == "==") return asked;
    if (comparison == "!=") return !asked;
    return {};
  }

  Operand operand() {
    skip();
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      const std::size_t end = rest_.find(rest_.front(), 1);
      if (end == std::string_view::npos) {
        broken_ = true;
        return {};
      }
      Operand text{std::string(rest_.substr(1, end - 1)), true};
      rest_.remove_prefix(end + 1);
      return text;
    }
    std::size_t size = 0;
    while (size < rest_.size() && is_name_character(rest_[size])) ++size;
    if (size == 0) broken_ = true;
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    const std::string& os = target_.os;
    const bool linux = os == "linux", windows = os == "windows";
    if (name == "extra") return {{}, true, true};
    if (name == "platform_system") return {linux ? "Linux" : windows ? "Windows" : "Darwin", true};
    if (name == "sys_platform") return {linux ? "linux" : windows ? "win32" : "darwin", true};
    if (name == "os_name") return {windows ? "nt" : "posix", true};
    if (name == "platform_machine")
      return {windows && target_.arch == "x86_64" ? "AMD64" : target_.arch, true};
    return {};
  }

  std::string_view rest_;
  const Target& target_;
  bool broken_ = false;
};

// "cuda-toolkit[cublas,cudart]==13.0.2; platform_system == \"Linux\""
std::optional<Requirement> read_requirement(std::string_view line) {
  Requirement read;
  const std::size_t condition = line.find(';');
  if (condition != std::string_view::npos) read.marker = trim(line.substr(condition + 1));
  std::string_view rest = trim(line.substr(0, condition));
  std::size_t size = 0;
  while (size < rest.size() && is_name_character(rest[size])) ++size;
  if (size == 0) return std::nullopt;
  read.project = publish::normal_project(std::string(rest.substr(0, size)));
  rest = trim(rest.substr(size));
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    for (const std::string& extra : split(rest.substr(1, end - 1), ','))
      if (const std::string_view name = trim(extra); !name.empty())
        read.extras.push_back(publish::normal_project(std::string(name)));
    rest = trim(rest.substr(end + 1));
  }
  read.versions = plain_specifier(rest);
  return read;
}

}  // namespace

tl::expected<Metadata, std::string> read_metadata(std::string_view text) {
  Metadata metadata;
  // The description follows an empty line.
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || line.front() == ' ' || line.front() == '\t') continue;
    const std::string name = to_lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "name") metadata.project = publish::normal_project(std::string(value));
    if (name == "version") metadata.version = value;
    if (name != "requires-dist") continue;
    auto requirement = read_requirement(value);
    if (!requirement)
      return tl::unexpected("its METADATA has a requirement that cannot be read: " + std::string(value));
    metadata.requirements.push_back(std::move(*requirement));
    if (metadata.requirements.size() > most_requirements)
      return tl::unexpected("its METADATA has more than " + std::to_string(most_requirements) +
                            " requirements");
  }
  if (metadata.project.empty() || !is_version(metadata.version))
    return tl::unexpected(std::string("its METADATA names no project and version"));
  return metadata;
}

std::optional<bool> holds(std::string_view marker, const Target& target) {
  if (trim(marker).empty()) return true;
  return Marker(marker, target).value();
}

bool is_pin(std::string_view versions) {
  const std::vector<std::string> parts = split(versions, ',');
  return std::ranges::any_of(parts, [](const std::string& part) { return trim(part).starts_with("=="); });
}

}  // namespace enginehost::follow
