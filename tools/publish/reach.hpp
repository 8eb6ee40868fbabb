// Finds libraries that lie in a build's components where the libraries that need them would not find them.
#pragma once
#include <string>
#include <vector>

#include "host/manifest/catalog.hpp"
#include "tools/publish/artifact_facts.hpp"

namespace enginehost::publish {

struct OutOfReach {
  std::string problem, remedy;
  bool certain = true;  // false: only an optional run-time dependency, or the facts are incomplete
};

// Returns one entry per name, by the rules with which users' machines predict whether the build loads
// (host/preflight). Skips libraries that the system provides, by itself or as `requires.libraries`. Empty
// when the plugin is not among the parts, and on Windows (preflight::check_described). Any thread.
std::vector<OutOfReach> out_of_reach(const manifest::Build& build, const std::vector<ArtifactFacts>& parts);

}  // namespace enginehost::publish
