#include "base/location.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
constexpr bool case_insensitive = fs::path::preferred_separator == '\\';

struct Url {
  std::string scheme, user, host, port, path;
  std::string rest;  // from '?' or '#' on; kept, because a repository has none
};

// Returns nothing if URL parsers would disagree about the host.
std::optional<Url> parts_of(std::string_view text) {
  Url url;
  url.scheme = to_lower(text.substr(0, text.find(':')));
  text.remove_prefix(url.scheme.size() + 3);
  if (text.starts_with('/')) text.remove_prefix(1);  // libcurl reads "https:///host" as "https://host"
  std::string_view host = text.substr(0, text.find_first_of("/?#"));
  text.remove_prefix(host.size());
  if (host.find('\\') != std::string_view::npos) return std::nullopt;
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) {
    url.user = host.substr(0, at + 1);
    host.remove_prefix(at + 1);
  }
  const std::size_t bracket = host.rfind(']'), colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    url.port = host.substr(colon + 1);
    host = host.substr(0, colon);
    while (url.port.size() > 1 && url.port.starts_with('0')) url.port.erase(0, 1);
    if (url.port == (url.scheme == "https" ? "443" : "80")) url.port.clear();
  }
  url.host = to_lower(host);
  url.path = text.substr(0, text.find_first_of("?#"));
  url.rest = text.substr(url.path.size());
  return url;
}

std::string text_of(const Url& url) {
  return url.scheme + "://" + url.user + url.host + (url.port.empty() ? "" : ":" + url.port) + url.path +
         url.rest;
}

// Returns the elements without "." and ".." (RFC 3986, 5.2.4).
std::vector<std::string> elements_of(std::string_view path) {
  std::vector<std::string> kept;
  if (path.starts_with('/')) path.remove_prefix(1);
  for (const std::string& element : split(path, '/')) {
    if (element == ".." && !kept.empty()) kept.pop_back();
    if (element != "." && element != "..") kept.push_back(element);
  }
  return kept;
}

std::string path_with(const std::vector<std::string>& elements) {
  std::string result;
  for (const std::string& element : elements) result += "/" + element;
  while (result.ends_with('/')) result.pop_back();
  return result;
}

int value_of_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Decodes "%72" to "r" and normalizes "%2f" to "%2F"; characters with a meaning in a URL stay escaped.
std::string without_needless_escapes(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() ? value_of_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? value_of_digit(text[i + 2]) : -1;
    if (text[i] != '%' || high < 0 || low < 0) {
      result += text[i];
      continue;
    }
    const char c = static_cast<char>(high * 16 + low);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        std::string_view("-._~").find(c) != std::string_view::npos)
      result += c;
    else
      result.append({'%', digits[static_cast<std::size_t>(high)], digits[static_cast<std::size_t>(low)]});
    i += 2;
  }
  return result;
}

// Returns the text with each "%41" replaced by its byte; nothing if a "%" begins no escape.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? value_of_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? value_of_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

// Returns what is wrong with an element of a path. Servers decode it once or twice, before or after they look
// for "..", cut it at ";" (Java), or take "\" for "/" and drop dots and spaces at its end (Windows).
std::string ambiguity_of_element(std::string_view element) {
  const std::optional<std::string> plain = decoded(element);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (!plain || !is_utf8(*plain) || std::ranges::any_of(*plain, is_control) ||
      plain->find_first_of("/\\%") != std::string::npos)
    return "holds an encoded \"/\", a \"\\\", an encoded \"%\", a control character or a damaged escape";
  const std::string_view name = std::string_view(*plain).substr(0, plain->find(';'));
  const bool is_dots = !plain->empty() && name.find_first_not_of(". ") == std::string_view::npos;
  return is_dots && *plain != "." && *plain != ".." ? "is read as \"..\" by some servers" : "";
}

std::string ambiguity_of_path(const Url& url) {
  for (const std::string& element : split(url.path, '/'))
    if (const std::string problem = ambiguity_of_element(element); !problem.empty())
      return "\"" + element + "\" in it " + problem;
  return {};
}

// Returns the target of "folder/..": the parent of a link's target, as the file system resolves it. Windows,
// and this function for a missing folder, removes ".." from the text first.
fs::path out_of(const fs::path& folder) {
  std::error_code error;
  if (!case_insensitive && fs::is_symlink(fs::symlink_status(folder, error)))
    if (const fs::path target = fs::canonical(folder, error); !error) return target.parent_path();
  return folder.parent_path();
}

std::string plain_folder(std::string_view location) {
  const fs::path given = path_of(location);
  fs::path folder = given.root_path();
  folder.make_preferred();
  for (const fs::path& element : given.relative_path()) {
    if (element == "..")
      folder = out_of(folder);
    else if (!element.empty() && element != ".")
      folder /= element;
  }
  return path_text(folder);
}

}  // namespace

bool is_url(std::string_view location) {
  const std::string start = to_lower(location.substr(0, 8));
  return start.starts_with("http://") || start.starts_with("https://");
}

std::string plain_location(std::string_view location) {
  if (!is_url(location))
    return path_of(location).is_absolute() ? plain_folder(location) : std::string(location);
  std::optional<Url> url = parts_of(location);
  if (!url) return std::string(location);
  // The URL that is sent is the one that is compared.
  if (ambiguity_of(location).empty()) url->path = path_with(elements_of(without_needless_escapes(url->path)));
  return text_of(*url);
}

std::string identity_of_location(std::string_view location) {
  if (!is_url(location)) {
    if (!path_of(location).is_absolute()) return without_passwords(location);
    const std::string folder = without_passwords(generic_text(path_of(plain_folder(location))));
    return case_insensitive ? to_lower(folder) : folder;
  }
  std::optional<Url> url = parts_of(location);
  if (!url) return without_passwords(location);
  url->user.clear();
  url->host = to_lower(without_needless_escapes(url->host));
  while (url->host.ends_with('.')) url->host.pop_back();
  std::vector<std::string> elements = elements_of(without_needless_escapes(url->path));
  std::erase(elements, "");
  url->path = path_with(elements);
  return text_of(*url);
}

std::string ambiguity_of(std::string_view location) {
  if (!is_url(location)) return {};
  const std::optional<Url> url = parts_of(location);
  const auto is_no_digit = [](char c) { return c < '0' || c > '9'; };
  if (!url || url->host.empty()) return "its host cannot be read";
  if (!url->host.starts_with('[') && url->host.find_first_of("%:@ \t") != std::string::npos)
    return "its host \"" + url->host + "\" is no plain name";
  if (std::ranges::any_of(url->port, is_no_digit)) return "its port is no number";
  if (!url->rest.empty()) return "it has a query or a fragment (\"?\", \"#\")";
  return ambiguity_of_path(*url);
}

std::optional<std::string> rest_below(std::string_view url, std::string_view folder) {
  if (!is_url(url) || !ambiguity_of(folder).empty()) return std::nullopt;
  std::optional<Url> one = parts_of(url);
  if (!one || !ambiguity_of_path(*one).empty()) return std::nullopt;
  const std::string query = std::exchange(one->rest, "");
  one->user.clear();
  const std::string place = plain_location(text_of(*one)), above = plain_location(folder) + "/";
  if (!place.starts_with(above)) return std::nullopt;
  return place.substr(above.size()) + query;
}

std::string not_an_index(std::string_view location) {
  if (is_url(location) || to_lower(location.substr(0, 6)) == "file:/" || path_of(location).is_absolute())
    return {};
  return "\"" + without_passwords(location) +
         "\" is neither a URL that begins with https://, http:// or file:/// nor an absolute folder";
}

}  // namespace enginehost
