#include "tools/follow/choose.hpp"

#include <algorithm>
#include <set>

#include "base/version.hpp"

namespace enginehost::follow {
namespace {

// Releases whose toolkit is asked for each CUDA major that is searched, because each costs requests.
constexpr std::size_t most_toolkits = 20;

// Returns the track's number of newest releases. `usable`: the newest first.
std::vector<std::string> newest_of(const Track& track, const std::vector<std::string>& usable) {
  std::vector<std::string> newest;
  for (const std::string& version : usable) {
    if (newest.size() >= static_cast<std::size_t>(std::max(track.newest, 0))) break;
    if (track.newest_of == "minor" && !newest.empty() &&
        minor_release_of(newest.back()) == minor_release_of(version))
      continue;
    newest.push_back(version);
  }
  return newest;
}

// Adds the newest release of each CUDA major. All rows of a release have one toolkit's major version.
Result<void> add_cuda_majors(const Track& track, const std::vector<std::string>& usable,
                             const ToolkitOf& toolkit_of, std::set<std::string>& chosen) {
  const auto row =
      std::find_if(track.rows.begin(), track.rows.end(), [](const Row& one) { return !one.cuda.empty(); });
  if (row == track.rows.end()) return {};
  std::set<std::string> wanted(track.cuda_majors.begin(), track.cuda_majors.end());
  std::size_t asked = 0;
  for (const std::string& version : usable) {
    if (wanted.empty() || ++asked > most_toolkits) break;
    TRY_ASSIGN(const std::string cuda, toolkit_of(*row, version));
    if (wanted.erase(cuda.substr(0, cuda.find('.'))) > 0) chosen.insert(version);
  }
  return {};
}

}  // namespace

Result<ChosenReleases> choose_releases(const Track& track, VettedIndex& index, const ToolkitOf& toolkit_of) {
  TRY_ASSIGN(const std::vector<Release> releases, index.releases(track.project));
  std::vector<std::string> usable;
  for (const Release& release : releases)
    if (in_range(release.version, track.versions)) usable.push_back(release.version);
  const std::vector<std::string> newest = newest_of(track, usable);
  std::set<std::string> chosen(newest.begin(), newest.end());
  ChosenReleases result;
  for (const std::string& kept : track.keep) {
    const auto found = std::find_if(releases.begin(), releases.end(), [&](const Release& release) {
      return compare_versions(release.version, kept) == 0;
    });
    if (found == releases.end())
      result.missing.push_back(kept);
    else
      chosen.insert(found->version);
  }
  TRY(add_cuda_majors(track, usable, toolkit_of, chosen));
  result.versions.assign(chosen.begin(), chosen.end());
  std::sort(
      result.versions.begin(), result.versions.end(),
      [](const std::string& left, const std::string& right) { return compare_versions(left, right) < 0; });
  // Without `keep` and CUDA: a release older than the newest ones is of no interest.
  const std::string oldest = newest.empty() ? std::string() : newest.back();
  for (const SkippedRelease& skipped : index.skipped(track.project))
    if (in_range(skipped.version, track.versions) &&
        (oldest.empty() || compare_versions(skipped.version, oldest) > 0))
      result.skipped.push_back(skipped);
  return result;
}

}  // namespace enginehost::follow
