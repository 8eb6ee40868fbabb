#include "host/settings/declarations.hpp"

#include <algorithm>

#include "base/location.hpp"
#include "base/text.hpp"
#include "host/settings/places.hpp"

namespace enginehost::settings {
namespace {

// A kind of device, with a number to select one of several.
bool is_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const auto is_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (kind.empty() || !std::all_of(kind.begin(), kind.end(), is_name)) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view number = text.substr(colon + 1);
  return !number.empty() && number.size() < 6 && std::all_of(number.begin(), number.end(), is_digit);
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string wrong_type(const Json& value, const char* wanted) {
  return std::string("expected ") + wanted + ", found " + value.type_name();
}

// `place`: what messages call a path.
std::string problem_of_text(const Declaration& declaration, const std::string& text, const char* place) {
  if (declaration.rules.choices != nullptr) {
    const std::string choices = declaration.rules.choices;
    if ((", " + choices + ", ").find(", " + text + ", ") == std::string::npos)
      return quoted(text) + " is none of " + choices;
  }
  if (declaration.rules.problem != nullptr)
    if (std::string problem = declaration.rules.problem(text); !problem.empty()) return problem;
  // An unset value is expressed by leaving the key out.
  if (text.empty() && !declaration.rules.may_be_empty) return "it is empty: give it a value, or leave it out";
  // A relative path would mean another folder for each program that reads a file or a variable.
  const Kind kind = declaration.member.kind;
  if ((kind == Kind::path || kind == Kind::paths) && !path_of(text).is_absolute())
    return quoted(text) + " is not an absolute " + place;
  return {};
}

std::string problem_of_list(const Declaration& declaration, const Json& value, const char* place) {
  if (!value.is_array()) return wrong_type(value, "a list of strings");
  for (const Json& element : value.as_array()) {
    if (!element.is_string()) return wrong_type(element, "a string") + " in the list";
    if (element.as_string().empty()) return "an element of the list is empty";
    if (std::string problem = problem_of_text(declaration, element.as_string(), place); !problem.empty())
      return problem;
  }
  return {};
}

std::string problem_of_value(const Declaration& declaration, const Json& value, const char* place) {
  switch (declaration.member.kind) {
    case Kind::toggle:
      return value.is_bool() ? "" : wrong_type(value, "true or false");
    case Kind::number:
      if (!value.is_integer()) return wrong_type(value, "a whole number");
      if (value.as_integer() >= declaration.rules.least && value.as_integer() <= declaration.rules.most)
        return {};
      return value.dump() + " is not between " + std::to_string(declaration.rules.least) + " and " +
             std::to_string(declaration.rules.most);
    case Kind::text:
    case Kind::path:
      return value.is_string() ? problem_of_text(declaration, value.as_string(), place)
                               : wrong_type(value, "a string");
    case Kind::texts:
    case Kind::paths:
      return problem_of_list(declaration, value, place);
    case Kind::objects:
      break;
  }
  return value.is_array() ? "" : wrong_type(value, "a list");
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

}  // namespace

std::string not_a_device(const std::string& text) {
  if (text.empty()) return {};
  for (const std::string& device : split(text, ','))
    if (!is_device(trim(device)))
      return quoted(std::string(trim(device))) +
             " is no device: give names as cpu, cuda:0, mps or gpu, several separated by commas";
  return {};
}

std::string not_a_host(const std::string& text) {
  const bool is_host = !text.empty() && text.find_first_of("/\\@=?#* ") == std::string::npos;
  return is_host ? "" : quoted(text) + " is not HOST or HOST:PORT";
}

std::string not_a_registry_mirror(const std::string& text) {
  const std::vector<std::string> sides = split(text, '=');
  if (sides.size() == 2 && !sides[0].empty() && !sides[1].empty() &&
      text.find_first_of("/@ ") == std::string::npos)
    return {};
  return quoted(text) + " is not HOST[:PORT]=MIRROR[:PORT]";
}

// The proxy kinds of libcurl. The value is not printed because it may contain a password.
std::string not_a_proxy(const std::string& text) {
  for (const char* scheme : {"http://", "https://", "socks4://", "socks4a://", "socks5://", "socks5h://"})
    if (text.starts_with(scheme)) return {};
  return "it is not the URL of a proxy (http://, https:// or socks5h://)";
}

std::string not_a_package_index(const std::string& text) { return not_an_index(text); }

const Declaration* find_declaration(std::string_view key) {
  const auto found = std::ranges::find(declarations, key, &Declaration::key);
  return found != std::end(declarations) ? &*found : nullptr;
}

std::string variable_of(std::string_view key) { return in_capitals("ENGINEHOST_" + std::string(key)); }

std::string flag_of(std::string_view key) {
  if (key == "repositories") return "--repository";  // repeated, one each
  if (key == "accept_licenses") return "--accept-license";
  const Declaration* declaration = find_declaration(key);
  if (declaration != nullptr && declaration->flag.name != nullptr) return declaration->flag.name;
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string request_member_of(std::string_view key) {
  if (key == "accept_licenses") return "request.accepted_licenses";
  const Declaration* declaration = find_declaration(key);
  const bool named = declaration != nullptr && declaration->flag.request != nullptr;
  return "request." + std::string(named ? declaration->flag.request : key);
}

std::optional<bool> parse_switch(const std::string& text) {
  const std::string lower = to_lower(text);
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "0" || lower == "false" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

std::string read_variable(const Declaration& declaration, const std::string& text, Json& value) {
  const Kind kind = declaration.member.kind;
  value = text;
  if (kind == Kind::texts || kind == Kind::paths) {
    value = Json::array();
    for (std::string& element : split(text, kind == Kind::paths ? folder_separator() : ' '))
      if (!element.empty()) value.push(std::move(element));
  } else if (kind == Kind::toggle) {
    const auto parsed = parse_switch(text);
    if (!parsed) return quoted(text) + " is neither 1 nor 0";
    value = *parsed;
  } else if (kind == Kind::number) {
    const auto parsed = parse_integer(text);
    if (!parsed) return quoted(text) + " is not a whole number";
    value = *parsed;
  }
  return problem_of_value(declaration, value, "folder");  // no variable names a file
}

std::string problem_of(const Declaration& declaration, const Json& value) {
  return problem_of_value(declaration, value, "path");
}

std::string text_of(const Json& value) {
  if (value.is_string()) return without_passwords(value.as_string());
  if (!value.is_array()) return value.dump();
  std::vector<std::string> texts;
  for (const Json& element : value.as_array())
    texts.push_back(element.is_object() ? element["of"].as_string() + " -> " + element["use"].as_string()
                                        : element.as_string());
  return without_passwords(join(texts, " "));
}

}  // namespace enginehost::settings
