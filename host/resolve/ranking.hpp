// The order in which fitting builds are tried.
#pragma once
#include "host/resolve/checks.hpp"

namespace enginehost::resolve {

// What ranking looks at, strongest first; see the contract's "Ranking". Smaller is better in every member.
struct Rank {
  int not_forced = 1;
  int flavor_not_wished = 0;  // a flavor was wished for and this is another one
  int device_place = 0;       // place of the build's main device in the list asked for
  int has_unknown = 0;
  int is_cpu = 0;
  const std::string* version = nullptr;  // newer is better
  int by_minor_version = 0;              // CUDA only by minor-version compatibility
  int priority = 0;                      // greater is better
  const std::string* toolkit = nullptr;  // newer is better; nullptr: none
  int not_proven = 1;
};

Rank rank_of(const manifest::Build& build, const Request& request, const Checks& checks, CudaFit cuda,
             bool proven);

// True when `left` is tried before `right`. Equal ranks keep the order of the catalogue.
bool goes_before(const Rank& left, const Rank& right);

}  // namespace enginehost::resolve
