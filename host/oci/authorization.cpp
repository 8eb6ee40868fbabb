#include "host/oci/authorization.hpp"

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
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

namespace fs = std::filesystem;

// RFC 4648; returns nothing for a character outside its alphabet.
std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char character : text) {
    const std::size_t value = alphabet.find(character);
    if (value == std::string_view::npos) return {};
    bits = ((bits << 6) | static_cast<std::uint32_t>(value)) & 0xffffffu;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>((bits >> held) & 0xffu);
    }
  }
  return bytes;
}

// "https://registry.example/v2/", as Docker writes it, stands for the host. "registry.example/team" does not,
// because its credentials are valid only below that name.
std::string_view host_of_key(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme))
      return key.substr(scheme.size(), key.find('/', scheme.size()) - scheme.size());
  return key;
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

std::vector<fs::path> credential_files() {
  if (const auto named = environment_variable("REGISTRY_AUTH_FILE"); named && !named->empty())
    return {path_of(*named)};
  std::vector<fs::path> files;
  const auto add = [&](const char* variable, const char* below) {
    const auto folder = environment_variable(variable);
    if (folder && path_of(*folder).is_absolute()) files.push_back(path_of(*folder) / below);
    return folder && !folder->empty();
  };
  // Windows names the home folder by another variable.
  const auto add_at_home = [&](const char* below) { return add("HOME", below) || add("USERPROFILE", below); };
  add("XDG_RUNTIME_DIR", "containers/auth.json");
  if (!add("XDG_CONFIG_HOME", "containers/auth.json")) add_at_home(".config/containers/auth.json");
  if (!add("DOCKER_CONFIG", "config.json")) add_at_home(".docker/config.json");
  return files;
}

std::optional<transfer::Authorization> credentials_in(std::string_view json, std::string_view host) {
  const auto document = parse_json(json, "credentials", {1u << 20, 16});
  if (!document) return {};
  for (const auto& [key, entry] : (*document)["auths"].as_object()) {
    if (host_of_key(key) != host) continue;
    const auto text = from_base64(entry["auth"].as_string());
    const std::size_t colon = text ? text->find(':') : std::string::npos;
    if (colon == std::string::npos || colon == 0) continue;
    transfer::Authorization who;
    who.user = text->substr(0, colon);
    who.password = text->substr(colon + 1);
    return who;
  }
  return {};
}

std::optional<transfer::Authorization> credentials_for(std::string_view host) {
  for (const fs::path& file : credential_files()) {
    const auto text = read_file(file, 1u << 20);
    if (!text) continue;
    if (auto who = credentials_in(*text, host)) return who;
  }
  return {};
}

}  // namespace enginehost::oci
