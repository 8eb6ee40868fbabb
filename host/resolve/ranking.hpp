// The order in which fitting builds are tried.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/resolve/checks.hpp"

namespace enginehost::resolve {

// The criteria of ranking, most important first; see the contract's "Ranking". Smaller is better unless
// noted.
struct Rank {
  int not_forced = 1;
  int unnamed_prerelease = 0;    // tried if nothing else fits, or if the request names one
  int flavor_not_requested = 0;  // a flavor was requested and this is another one
  int device_place = 0;          // position of the build's main device in the request's list
  int has_unknown = 0;
  int is_cpu = 0;
  int unserved = 0;          // visible GPUs that it has no code for
  int version_place = 0;     // among the available versions, newest first: see order_versions()
  int by_minor_version = 0;  // CUDA only by minor-version compatibility
  int library_not_looked_for = 0;
  int priority = 0;       // greater is better
  int toolkit = 0;        // 100 * major + minor of CUDA or ROCm; greater is better
  int not_completed = 1;  // no part of it is taken from an installation of this machine
  int not_proven = 1;
};

Rank rank_of(const manifest::Build& build, const Question& question, const CheckFindings& findings,
             const CudaChecked& cuda, bool proven);

// Fills in Rank::version_place. Compares each different version once, not each pair of builds.
void order_versions(const std::vector<std::pair<const std::string*, Rank*>>& ranks);

// A rank as two numbers that sort in the same order. The smaller is tried first; equal ones keep the order of
// the catalog.
struct RankKey {
  std::uint64_t first = 0, second = 0;
  auto operator<=>(const RankKey&) const = default;
};
RankKey key_of(const Rank& rank);
// Returns the key that the build would have if it fitted: without proofs, doubts and force.
RankKey merit_of(Rank rank);

}  // namespace enginehost::resolve
