#include <curl/curl.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

std::string join_url(std::string_view base, std::string_view reference) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(::curl_url(), &::curl_url_cleanup);
  char* joined = nullptr;
  if (::curl_url_set(url.get(), CURLUPART_URL, std::string(base).c_str(), 0) != CURLUE_OK ||
      ::curl_url_set(url.get(), CURLUPART_URL, std::string(reference).c_str(), CURLU_NON_SUPPORT_SCHEME) !=
          CURLUE_OK ||
      ::curl_url_get(url.get(), CURLUPART_URL, &joined, 0) != CURLUE_OK)
    return std::string(reference);
  std::string result(joined);
  ::curl_free(joined);
  return result;
}

std::string host_of(std::string_view text) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(::curl_url(), &::curl_url_cleanup);
  char* host = nullptr;
  if (::curl_url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_NON_SUPPORT_SCHEME) !=
          CURLUE_OK ||
      ::curl_url_get(url.get(), CURLUPART_HOST, &host, 0) != CURLUE_OK)
    return {};
  std::string result = to_lower(host);
  ::curl_free(host);
  if (result.starts_with('[') && result.ends_with(']')) result = result.substr(1, result.size() - 2);
  return result;
}

std::string origin_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const std::string_view after = std::string_view(url).substr(scheme + 3);
  // Uses the last '@' before the path, because a password may contain one.
  const std::string_view authority = after.substr(0, after.find_first_of("/?#"));
  std::string origin =
      to_lower(url.substr(0, scheme + 3)) + to_lower(authority.substr(authority.rfind('@') + 1));
  const std::size_t bracket = origin.find(']');
  const bool with_port =
      origin.find(':', bracket == std::string::npos ? scheme + 3 : bracket) != std::string::npos;
  if (!with_port) origin += origin.starts_with("https:") ? ":443" : ":80";
  return origin;
}

std::string with_credentials_of(std::string_view url, std::string_view from) {
  const auto user_of = [](std::string_view text) {
    const std::size_t host = text.find("://") + 3;
    const std::size_t at = text.substr(0, text.find_first_of("/?#", host)).rfind('@');
    return at == std::string_view::npos || at < host ? std::string_view() : text.substr(host, at + 1 - host);
  };
  std::string result(url);
  if (is_url(url) && is_url(from) && user_of(url).empty() &&
      origin_of(result) == origin_of(std::string(from)))
    result.insert(result.find("://") + 3, user_of(from));
  return result;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    plain += escaped ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escaped) i += 2;
  }
  return plain;
}

std::string file_url_of(const std::filesystem::path& path) {
  return (path.has_root_name() ? "file:///" : "file://") + percent_encoded(generic_text(path), "/-._~:");
}

std::string file_name_of(std::string_view url) {
  const std::string_view path = url.substr(0, url.find_first_of("?#"));
  return percent_decoded(path.substr(path.rfind('/') + 1));
}

std::optional<std::filesystem::path> path_of_file_url(std::string_view url) {
  if (!to_lower(url.substr(0, 5)).starts_with("file:")) return {};
  url.remove_prefix(5);
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    const std::string_view host = url.substr(0, std::min(url.find('/'), url.size()));
    if (!host.empty() && to_lower(host) != "localhost") return {};
    url.remove_prefix(host.size());
  }
  std::string path = percent_decoded(url.substr(0, url.find_first_of("?#")));
  // "/C:/folder" on Windows.
  if (std::filesystem::path::preferred_separator == '\\' && path.size() > 2 && path[2] == ':')
    path.erase(0, 1);
  const std::filesystem::path result = path_of(path);
  return result.is_absolute() ? std::optional(result) : std::nullopt;
}

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host.ends_with(".localhost") || host == "::1") return true;
  // libcurl writes every numeric IPv4 address as four numbers.
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::optional<std::string> title_of_page(std::string_view head) {
  const std::string lower = to_lower(head);
  std::size_t start = lower.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (;;) {  // white space and comments may come first
    start = lower.find_first_not_of(" \t\r\n", start);
    if (start == std::string::npos) return {};
    if (lower.compare(start, 4, "<!--") != 0) break;
    start = lower.find("-->", start);
    if (start == std::string::npos) return {};
    start += 3;
  }
  const std::string_view rest = std::string_view(lower).substr(start);
  bool page = false;
  for (const std::string_view mark :
       {"<!doctype html", "<html", "<head", "<body", "<title", "<script", "<meta"})
    page = page || rest.starts_with(mark);
  if (rest.starts_with("<?xml")) page = rest.find("<html") != std::string_view::npos;
  if (!page) return {};
  const std::size_t open = lower.find("<title");
  const std::size_t text = open == std::string::npos ? open : lower.find('>', open);
  const std::size_t close = text == std::string::npos ? text : lower.find("</title", text);
  if (close == std::string::npos) return std::string();
  std::string title;
  for (const char character : trim(head.substr(text + 1, close - text - 1)))
    title += static_cast<unsigned char>(character) < 0x20 ? ' ' : character;
  return title.substr(0, 120);
}

}  // namespace enginehost::transfer
