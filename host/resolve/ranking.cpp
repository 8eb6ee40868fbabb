#include "host/resolve/ranking.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/version.hpp"

namespace enginehost::resolve {
namespace {

// "12.8" as 1208, ">=6.2" as 602.
int number_of(std::string_view version) {
  const std::size_t begin = version.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  int parts[2] = {0, 0};
  std::size_t part = 0;
  for (const char c : version.substr(begin)) {
    if (c == '.' && part == 0)
      part = 1;
    else if (c >= '0' && c <= '9' && parts[part] < 100)
      parts[part] = parts[part] * 10 + (c - '0');
    else
      break;
  }
  return parts[0] * 100 + parts[1];
}

}  // namespace

Rank rank_of(const manifest::Build& build, const Request& request, const Checks& checks, CudaFit cuda,
             bool proven) {
  Rank rank;
  const std::string_view device = main_device(build);
  rank.not_forced = request.force.empty() || request.force != build.id;
  rank.flavor_not_wished = !request.flavor.empty() && request.flavor != build.flavor;
  if (!request.device.empty()) {
    for (const std::string& wanted : devices_of(request.device)) {
      if (std::string_view(wanted).substr(0, wanted.find(':')) == device) break;
      ++rank.device_place;
    }
  }
  rank.has_unknown = std::any_of(checks.begin(), checks.end(),
                                 [](const Check& check) { return check.result == Answer::unknown; });
  rank.is_cpu = device == "cpu";
  rank.by_minor_version = cuda == CudaFit::minor_version;
  rank.priority = build.priority;
  if (build.requires_.cuda)
    rank.toolkit = number_of(build.requires_.cuda->toolkit);
  else if (build.requires_.rocm)
    rank.toolkit = number_of(build.requires_.rocm->version);
  rank.not_proven = !proven;
  return rank;
}

void order_versions(const std::vector<std::pair<const std::string*, Rank*>>& ranks) {
  std::unordered_map<std::string_view, int> places;
  std::vector<std::string_view> versions;
  for (const auto& [version, rank] : ranks)
    if (places.emplace(*version, 0).second) versions.push_back(*version);
  std::sort(versions.begin(), versions.end(),
            [](std::string_view left, std::string_view right) { return compare_versions(left, right) > 0; });
  int place = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    // "2.0" and "2.0.0" are one version in two texts.
    if (i != 0 && compare_versions(versions[i - 1], versions[i]) != 0) ++place;
    places[versions[i]] = place;
  }
  for (const auto& [version, rank] : ranks) rank->version_place = places[*version];
}

bool goes_before(const Rank& left, const Rank& right) {
  const auto key = [](const Rank& rank) {
    return std::tuple(rank.not_forced, rank.flavor_not_wished, rank.device_place, rank.has_unknown,
                      rank.is_cpu, rank.version_place, rank.by_minor_version, -rank.priority, -rank.toolkit,
                      rank.not_proven);
  };
  return key(left) < key(right);
}

}  // namespace enginehost::resolve
