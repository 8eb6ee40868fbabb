#include "host/preflight/expected_paths.hpp"

#include <algorithm>

namespace enginehost::preflight {
namespace {

// Tries "glibc-hwcaps", then "glibc-hwcaps/x86-64-v3": returns the first that does not exist, or the file in
// the last one.
std::string first_absent(const std::string& folder, const std::string& below, const std::string& name,
                         const std::function<bool(const std::string&)>& exists) {
  for (std::size_t slash = below.find('/');; slash = below.find('/', slash + 1)) {
    const std::string path = folder + "/" + below.substr(0, slash);
    if (!exists(path)) return path;
    if (slash == std::string::npos) return path + "/" + name;
  }
}

}  // namespace

std::vector<std::string> places_of(const linker::Machine& machine, const std::string& folder,
                                   const std::string& name,
                                   const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> places = {folder + "/" + name};
  if (!exists(folder)) return places;
  const auto add = [&](const std::string& below) {
    std::string place = first_absent(folder, below, name, exists);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
  };
  for (const std::string& level : machine.hwcaps) add("glibc-hwcaps/" + level);
  for (const std::string& legacy : machine.legacy_hwcaps) add(legacy);
  return places;
}

}  // namespace enginehost::preflight
