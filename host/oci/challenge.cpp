#include "host/oci/challenge.hpp"

#include "base/text.hpp"

namespace enginehost::oci {
namespace {

constexpr std::size_t most_challenges = 8, most_parameters = 16;

// RFC 9110's "token".
bool is_token_character(char character) {
  const auto byte = static_cast<unsigned char>(character);
  if (byte <= 0x20 || byte >= 0x7f) return false;
  return std::string_view("\"(),/:;<=>?@[\\]{}").find(character) == std::string_view::npos;
}

class ChallengeReader {
 public:
  explicit ChallengeReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  void skip(std::string_view characters) {
    while (!at_end() && characters.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char character) {
    if (at_end() || text_[at_] != character) return false;
    ++at_;
    return true;
  }
  std::string_view token() {
    const std::size_t start = at_;
    while (!at_end() && is_token_character(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  // Starts after the opening quote; returns false when there is no closing one.
  bool quoted(std::string& value) {
    while (!at_end()) {
      char character = text_[at_++];
      if (character == '"') return true;
      if (character == '\\' && !at_end()) character = text_[at_++];
      value += character;
    }
    return false;
  }
  std::size_t position() const { return at_; }
  void back_to(std::size_t position) { at_ = position; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Reads "name=value" or "name=\"value\""; leaves the reader unchanged when there is none.
bool read_parameter(ChallengeReader& reader, std::pair<std::string, std::string>& parameter, bool& broken) {
  const std::size_t start = reader.position();
  parameter.first = to_lower(reader.token());
  parameter.second.clear();
  reader.skip(" \t");
  if (parameter.first.empty() || !reader.take('=')) {
    reader.back_to(start);
    return false;
  }
  reader.skip(" \t");
  if (reader.take('"'))
    broken = !reader.quoted(parameter.second);
  else
    parameter.second = reader.token();
  return !broken;
}

}  // namespace

const std::string& Challenge::operator[](std::string_view name) const {
  for (const auto& [key, value] : parameters)
    if (key == name) return value;
  static const std::string& nothing = *new std::string;
  return nothing;
}

std::vector<Challenge> read_challenges(std::string_view header) {
  std::vector<Challenge> challenges;
  ChallengeReader reader(header);
  while (challenges.size() < most_challenges) {
    reader.skip(" \t,");
    Challenge challenge;
    challenge.scheme = to_lower(reader.token());
    if (challenge.scheme.empty()) break;
    bool broken = false;
    for (;;) {
      reader.skip(" \t,");
      std::pair<std::string, std::string> parameter;
      if (!read_parameter(reader, parameter, broken)) break;
      if (challenge.parameters.size() < most_parameters) challenge.parameters.push_back(std::move(parameter));
    }
    if (broken) break;  // half a value is worse than none
    challenges.push_back(std::move(challenge));
  }
  return challenges;
}

}  // namespace enginehost::oci
