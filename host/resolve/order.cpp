#include "host/resolve/order.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/version.hpp"

namespace enginehost::resolve {
namespace {

// Returns what the rank has before the versions are compared: which devices the build serves, and how.
Rank before_versions(Rank rank) {
  rank.not_held = rank.not_installed = rank.version_place = rank.not_installed_version = rank.stands_in =
      rank.by_minor_version = rank.library_not_looked_for = rank.priority = rank.toolkit =
          rank.not_completed = rank.not_proven = 0;
  return rank;
}

// Returns the rank that Update::open would give.
Rank with_updates(Rank rank) {
  rank.not_installed = rank.not_held = 0;
  return rank;
}

}  // namespace

void order_versions(std::vector<Weighed>& weighed) {
  const auto is_newer = [](std::string_view left, std::string_view right) {
    return compare_versions(left, right) > 0;
  };
  std::map<std::string_view, int, decltype(is_newer)> places(is_newer);
  for (const Weighed& one : weighed) places.emplace(one.candidate.build->version, 0);
  int place = 0;
  for (auto& [version, at] : places) at = place++;
  for (Weighed& one : weighed) one.rank.version_place = places.at(one.candidate.build->version);
}

void order_installed(std::vector<Weighed>& weighed, const Request& request) {
  std::vector<const Weighed*> installed;
  for (const Weighed& one : weighed)
    if (one.stage == Stage::tried && request.installed_here.contains(one.candidate.build->id))
      installed.push_back(&one);
  if (installed.empty()) return;
  for (Weighed& one : weighed) {
    const manifest::Build& build = *one.candidate.build;
    const bool is_like_one = std::ranges::any_of(installed, [&](const Weighed* other) {
      const manifest::Build& there = *other->candidate.build;
      if (build.in_place) return before_versions(one.rank) == before_versions(other->rank);
      return other->rank.stands_in > one.rank.stands_in && there.version == build.version &&
             there.flavor == build.flavor;
    });
    one.rank.not_installed_version = !is_like_one && !request.installed_here.contains(build.id);
    one.rank.not_installed = request.update != Update::open ? one.rank.not_installed_version : 0;
  }
}

std::shared_ptr<const manifest::Build> update_among(const std::vector<Weighed*>& sorted,
                                                    const Request& request) {
  if (request.update != Update::report || sorted.empty() || sorted[0]->stage != Stage::tried) return nullptr;
  const Weighed* best = sorted[0];
  for (const Weighed* const one : sorted)
    if (one->stage == Stage::tried && with_updates(one->rank) < with_updates(best->rank)) best = one;
  return best != sorted[0] ? best->candidate.build : nullptr;
}

}  // namespace enginehost::resolve
