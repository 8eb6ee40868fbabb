#include "host/oci/reference.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace enginehost::oci {
namespace {

constexpr std::size_t longest_name = 255, longest_tag = 128;

bool is_lower_or_digit(char character) {
  return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
}
bool is_word(char character) {
  return is_lower_or_digit(character) || (character >= 'A' && character <= 'Z') || character == '_';
}

// One part of a name: lower-case letters and digits, with ".", "_", "__" or dashes between them.
bool is_name_part(std::string_view part) {
  if (part.empty() || !is_lower_or_digit(part.front()) || !is_lower_or_digit(part.back())) return false;
  for (std::size_t at = 0; at < part.size();) {
    if (is_lower_or_digit(part[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < part.size() && part[end] == part[at]) ++end;
    const std::size_t length = end - at;
    const bool allowed =
        part[at] == '-' || (part[at] == '.' && length == 1) || (part[at] == '_' && length <= 2);
    if (!allowed || !is_lower_or_digit(part[end])) return false;
    at = end;
  }
  return true;
}

bool is_port(std::string_view text) {
  const auto number = parse_integer(text);
  return number && *number > 0 && *number < 65536 && text.front() != '+';
}

// Checks a name or address with an optional port. It must look like a host, so that "engines/torch" is not
// taken for one.
std::string_view host_problem(std::string_view host) {
  std::string_view name = host;
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos || close == 1) return "the host's address is not closed by ]";
    const std::string_view address = host.substr(1, close - 1), rest = host.substr(close + 1);
    if (address.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos)
      return "the host is not an address";
    if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return "the port is not a number";
    return {};
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    name = host.substr(0, colon);
    if (!is_port(host.substr(colon + 1))) return "the port is not a number";
  }
  if (name.empty() || name.size() > 253 || name.front() == '-' || name.front() == '.')
    return "the host has no name";
  for (const char character : name)
    if (!is_lower_or_digit(to_lower(std::string_view(&character, 1)).front()) && character != '-' &&
        character != '.')
      return "the host's name holds a character that hosts do not have";
  if (colon == std::string_view::npos && name.find('.') == std::string_view::npos && name != "localhost")
    return "it does not begin with a registry's host (registry.example/…)";
  return {};
}

}  // namespace

std::string Reference::text() const {
  return host + "/" + repository + (tag.empty() ? "" : ":" + tag) +
         (digest.empty() ? "" : "@sha256:" + digest);
}

Result<Reference> read_reference(std::string_view text) {
  const auto refuse = [&](std::string_view problem) {
    return fail(diagnose(Code::not_a_registry_reference)
                    .with(Key::reference, text.substr(0, 300))
                    .with(Key::problem, problem));
  };
  Reference reference;
  std::string_view rest = text;
  if (rest.find("://") != std::string_view::npos)
    return refuse("it is a URL; a registry is named without https:// in front");
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    const std::string_view digest = rest.substr(at + 1);
    if (!digest.starts_with("sha256:")) return refuse("its digest is not a sha256");
    if (!is_sha256_hex(digest.substr(7)))
      return refuse("its digest is not 64 hexadecimal digits in lower case");
    reference.digest = digest.substr(7);
    rest = rest.substr(0, at);
  }
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return refuse("it is not HOST/NAME");
  if (const std::string_view problem = host_problem(rest.substr(0, slash)); !problem.empty())
    return refuse(problem);
  reference.host = to_lower(rest.substr(0, slash));
  rest = rest.substr(slash + 1);
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::string_view tag = rest.substr(colon + 1);
    const bool good = !tag.empty() && tag.size() <= longest_tag && is_word(tag.front()) &&
                      std::all_of(tag.begin(), tag.end(), [](char character) {
                        return is_word(character) || character == '.' || character == '-';
                      });
    if (!good) return refuse("its tag is not letters, digits, '.', '_' and '-'");
    reference.tag = tag;
    rest = rest.substr(0, colon);
  }
  if (rest.empty() || rest.size() > longest_name) return refuse("its name is empty or too long");
  for (const std::string& part : split(rest, '/'))
    if (!is_name_part(part))
      return refuse(
          "its name is not parts of lower-case letters and digits, with '.', '_' or '-' between them");
  reference.repository = rest;
  return reference;
}

bool is_loopback(std::string_view host) {
  if (host.starts_with('[')) return host.starts_with("[::1]");
  const std::string name = to_lower(host.substr(0, host.find(':')));
  if (name == "localhost") return true;
  if (!name.starts_with("127.")) return false;
  // Rejects "127.example.org", a name that anyone may own.
  return name.find_first_not_of("0123456789.") == std::string::npos && split(name, '.').size() == 4;
}

}  // namespace enginehost::oci
