// Libraries of a build that lie in its components, and that whoever needs them would not find there.
#pragma once
#include <string>
#include <vector>

#include "host/manifest/catalog.hpp"
#include "host/publish/artifact_facts.hpp"

namespace enginehost::publish {

struct OutOfReach {
  std::string problem, remedy;
  bool certain =
      true;  // false: only what may be opened at run time needs it, or the facts do not tell enough
};

// One for each name, by the rules by which users' machines decide whether the build will load
// (host/preflight). What the system brings, by itself or as `requires.libraries`, is left out. Nothing where
// the plugin is not among the parts, nor on Windows (preflight::check_described). Any thread.
std::vector<OutOfReach> out_of_reach(const manifest::Build& build, const std::vector<ArtifactFacts>& parts);

}  // namespace enginehost::publish
