// The order of builds by version, and by whether they are installed. Used by decide().
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

// How far a build got. A build that was stopped later is nearer to fitting, and a reason that people can act
// upon comes before one that they cannot.
enum class Stage {
  tried,
  on_processor,  // tried last
  set_aside,
  unavailable,
  unfit,
  not_offered,
  beyond_reach,
  for_another_device,
  not_asked_for
};

struct Weighed {
  Candidate candidate;
  Rank rank;
  Stage stage = Stage::tried;
  Code refusal = Code::none;     // the code of its first "no"
  bool to_be_requested = false;  // has_to_be_requested()
};

// Fills in Rank::version_place, newest first.
void order_versions(std::vector<Weighed>& weighed);

// Fills in Rank::not_installed and ::not_installed_version. Two kinds of builds count as installed where an
// installed build fits:
//
// - A build of an installation in place, if the two serve the same devices: they compete by version, as
//   without this rule.
// - The build with NVIDIA's files beside its installed version with stand-ins, on a machine with NVIDIA's
//   driver. The stand-ins would otherwise stay there forever.
void order_installed(std::vector<Weighed>& weighed, const Request& request);

// Returns the build that Update::open would try first, if the request asks for a report and it is another.
// `sorted`: best first.
std::shared_ptr<const manifest::Build> update_among(const std::vector<Weighed*>& sorted,
                                                    const Request& request);

}  // namespace enginehost::resolve
