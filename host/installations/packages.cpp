#include "host/installations/parts.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t largest_metadata = 4u << 20, largest_status = 64u << 20;

std::string normalized(std::string_view name) {
  std::string text = to_lower(name);
  for (char& c : text)
    if (c == '_' || c == '.') c = '-';
  return text;
}

bool is_wanted(std::string_view name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view wanted) {
    return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1)) : name == wanted;
  });
}

// Returns the value of "Version: 2.0.1" in a mail-like header.
std::string header(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (trim(line).empty()) break;
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return std::string(trim(line.substr(name.size() + 1)));
    at += line.size() + 1;
  }
  return {};
}

}  // namespace

std::string without_local_part(std::string_view version) {
  return std::string(version.substr(0, version.find('+')));
}

std::vector<Package> python_packages(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<Package> found;
  for (const std::string& entry : names_in(folder)) {
    constexpr std::string_view ending = ".dist-info";
    if (!entry.ends_with(ending)) continue;
    // The folder's name only selects the files to read.
    if (!is_wanted(normalized(std::string_view(entry).substr(0, entry.find('-'))), names)) continue;
    const fs::path file = folder / path_of(entry) / "METADATA";
    const auto text = read_file(file, largest_metadata);
    if (!text) continue;
    Package package{normalized(header(*text, "Name")), header(*text, "Version"), file};
    if (!package.version.empty() && is_wanted(package.name, names)) found.push_back(std::move(package));
  }
  return found;
}

std::vector<Package> conda_packages(const fs::path& prefix, const std::vector<std::string>& names) {
  std::vector<Package> found;
  for (const std::string& entry : names_in(prefix / "conda-meta")) {
    if (!entry.ends_with(".json")) continue;
    // NAME-VERSION-BUILD.json; only the name may contain more hyphens.
    const std::size_t build = entry.rfind('-');
    const std::size_t version =
        build == std::string::npos || build == 0 ? build : entry.rfind('-', build - 1);
    if (version == std::string::npos || !is_wanted(entry.substr(0, version), names)) continue;
    const fs::path file = prefix / "conda-meta" / path_of(entry);
    const auto text = read_file(file, 64u << 20);
    // A record lists every file of its package and may therefore be long.
    const auto document =
        text ? parse_json(*text, path_text(file), {64u << 20, 32, 4'000'000}) : fail(text.error());
    if (!document) continue;
    Package package{(*document)["name"].as_string(), (*document)["version"].as_string(), file};
    if (!package.version.empty() && is_wanted(package.name, names)) found.push_back(std::move(package));
  }
  return found;
}

std::optional<Package> debian_package(std::string_view prefix, const fs::path& root) {
  const fs::path file = root / "var/lib/dpkg/status";
  const auto status = read_file(file, largest_status);
  if (!status) return std::nullopt;
  const std::string begin = "\nPackage: " + std::string(prefix);
  for (std::size_t at = status->find(begin); at != std::string::npos; at = status->find(begin, at + 1)) {
    const std::string_view entry = std::string_view(*status).substr(at + 1);
    const std::string name = header(entry, "Package");
    if (name.size() <= prefix.size() || name[prefix.size()] < '0' || name[prefix.size()] > '9') continue;
    if (!header(entry, "Status").ends_with(" installed")) continue;
    std::string version = header(entry, "Version");
    if (const std::size_t epoch = version.find(':'); epoch != std::string::npos) version.erase(0, epoch + 1);
    version.erase(std::min(version.size(), version.find_first_of("-+~")));
    return Package{name, version, file};
  }
  return std::nullopt;
}

std::optional<std::string> assigned_text(const fs::path& file, std::string_view name) {
  const auto text = read_file(file, largest_metadata);
  if (!text) return std::nullopt;
  for (const std::string& one : split(*text, '\n')) {
    const std::string_view line = one;
    if (!line.starts_with(name)) continue;
    const std::string_view rest = trim(line.substr(name.size()));
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos || (equals != 0 && rest[0] != ':')) continue;
    const std::string_view value = trim(rest.substr(equals + 1));
    if (value.size() < 2 || (value[0] != '\'' && value[0] != '"')) return std::nullopt;
    return std::string(value.substr(1, value.find(value[0], 1) - 1));
  }
  return std::nullopt;
}

}  // namespace enginehost::installations
