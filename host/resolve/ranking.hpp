// The order in which fitting builds are tried.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/resolve/checks.hpp"

namespace enginehost::resolve {

// What ranking looks at, strongest first; see the contract's "Ranking". Smaller is better in every member.
struct Rank {
  int not_forced = 1;
  int unnamed_prerelease = 0;    // taken when nothing else fits, or when the request names one
  int flavor_not_requested = 0;  // a flavor was wished for and this is another one
  int device_place = 0;          // place of the build's main device in the list asked for
  int has_unknown = 0;
  int is_cpu = 0;
  int version_place = 0;     // among the versions at hand, the newest first: see order_versions()
  int by_minor_version = 0;  // CUDA only by minor-version compatibility
  int library_not_looked_for = 0;
  int priority = 0;  // greater is better
  int toolkit = 0;   // 100 * major + minor of CUDA or ROCm; greater is better
  int not_proven = 1;
};

Rank rank_of(const manifest::Build& build, const Question& question, const CheckFindings& findings,
             CudaFit cuda, bool proven);

// Fills in Rank::version_place. Versions are compared once for each different one, not once for each pair of
// builds.
void order_versions(const std::vector<std::pair<const std::string*, Rank*>>& ranks);

// A rank as two numbers that sort as it does: the smaller is tried first, and equal ones keep the order of
// the catalog.
struct RankKey {
  std::uint64_t first = 0, second = 0;
  auto operator<=>(const RankKey&) const = default;
};
RankKey key_of(const Rank& rank);

}  // namespace enginehost::resolve
