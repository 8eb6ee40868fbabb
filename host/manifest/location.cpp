#include "host/manifest/location.hpp"

#include <filesystem>
#include <string_view>

#include "base/paths.hpp"

namespace enginehost::manifest {

std::string below(const std::string& location, const std::string& path) {
  if (!is_url(location)) return path_text(path_of(location) / path_of(path));
  std::string result = location;
  if (!result.ends_with('/')) result += '/';
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~+").find(c) != std::string_view::npos;
    if (plain)
      result += c;
    else
      result.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return result;
}

}  // namespace enginehost::manifest
