#include "host/resolve/ranking.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/version.hpp"

namespace enginehost::resolve {
namespace {

// Returns 1208 for "12.8", and 602 for ">=6.2".
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

Rank rank_of(const manifest::Build& build, const Question& question, const CheckFindings& findings,
             const CudaChecked& cuda, bool proven) {
  Rank rank;
  const Request& request = question.request;
  const std::string_view device = main_device(build);
  rank.not_forced = request.force.empty() || request.force != build.id;
  rank.unnamed_prerelease = is_prerelease(build.version) && !question.version.names_prerelease();
  rank.flavor_not_requested = !request.flavor.empty() && request.flavor != build.flavor;
  for (const std::string& wanted : question.devices) {
    const std::string_view kind = std::string_view(wanted).substr(0, wanted.find(':'));
    if (kind == device || (kind == "gpu" && device != "cpu")) break;
    ++rank.device_place;
  }
  rank.has_unknown = findings.has_unknown();
  rank.is_cpu = device == "cpu";
  rank.unserved = cuda.unserved;
  rank.by_minor_version = cuda.fit == CudaFit::minor_version;
  rank.library_not_looked_for = findings.leaves_to_preflight();
  rank.priority = build.priority;
  if (build.requires_.cuda)
    rank.toolkit = number_of(build.requires_.cuda->toolkit);
  else if (build.requires_.rocm)
    rank.toolkit = number_of(build.requires_.rocm->version);
  rank.not_completed = !build.in_place;
  rank.not_proven = !proven;
  return rank;
}

void order_versions(const std::vector<std::pair<const std::string*, Rank*>>& ranks) {
  std::unordered_map<std::string_view, int> places;
  std::vector<std::string_view> versions;
  std::string_view last;  // builds of one version are adjacent in most manifests
  for (const auto& [version, rank] : ranks) {
    if (!versions.empty() && *version == last) continue;
    last = *version;
    if (places.emplace(last, 0).second) versions.push_back(last);
  }
  std::sort(versions.begin(), versions.end(),
            [](std::string_view left, std::string_view right) { return compare_versions(left, right) > 0; });
  int place = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    // "2.0" and "2.0.0" are the same version.
    if (i != 0 && compare_versions(versions[i - 1], versions[i]) != 0) ++place;
    places[versions[i]] = place;
  }
  last = {};
  for (const auto& [version, rank] : ranks) {
    if (last.data() == nullptr || *version != last) {
      last = *version;
      place = places[last];
    }
    rank->version_place = place;
  }
}

RankKey key_of(const Rank& rank) {
  RankKey key;
  const auto add = [](std::uint64_t& number, int bits, std::int64_t value) {
    const std::int64_t most = (std::int64_t{1} << bits) - 1;
    number = number << bits | static_cast<std::uint64_t>(std::clamp<std::int64_t>(value, 0, most));
  };
  constexpr std::int64_t greatest = std::numeric_limits<int>::max(), greatest_toolkit = (1 << 16) - 1;
  add(key.first, 1, rank.not_forced);
  add(key.first, 1, rank.unnamed_prerelease);
  add(key.first, 1, rank.flavor_not_requested);
  add(key.first, 16, rank.device_place);
  add(key.first, 1, rank.has_unknown);
  add(key.first, 1, rank.is_cpu);
  add(key.first, 8, rank.unserved);
  add(key.first, 31, rank.version_place);
  add(key.first, 1, rank.by_minor_version);
  add(key.first, 1, rank.library_not_looked_for);
  add(key.second, 32, greatest - rank.priority);  // the greater goes first, in these two
  add(key.second, 16, greatest_toolkit - rank.toolkit);
  add(key.second, 1, rank.not_completed);
  add(key.second, 1, rank.not_proven);
  return key;
}

RankKey merit_of(Rank rank) {
  rank.not_forced = 1;
  rank.has_unknown = rank.unserved = rank.by_minor_version = rank.library_not_looked_for = rank.not_proven =
      0;
  return key_of(rank);
}

}  // namespace enginehost::resolve
