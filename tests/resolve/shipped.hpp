// The manifests that EngineHost ships, and their decisions for the recorded machines.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "host/manifest/catalog.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::resolve {

// The beginning of "not_built" in the templates where somebody can compile the plugin.
inline constexpr std::string_view compilable = "its plugin (engines/";

// Returns the templates of manifests/ by engine, as a repository has them in which every plugin that can be
// compiled is compiled. In the repository of a build tree some plugins are missing. The rows say what payload
// and plugin need together (engines_floor_of_rows). Ends the program if a template cannot be read.
const std::map<std::string, Json>& shipped_manifests();
// Returns the catalog of these manifests.
const manifest::Catalog& shipped();

// Returns the names of tests/profiles, sorted.
std::vector<std::string> recorded_machines();
// Returns a machine of tests/profiles. Ends the program if it cannot be read.
platform::Platform machine_called(const std::string& name);

// Returns the table of every recorded machine and every engine: the chosen build, and why the build that
// would be preferred is not chosen; without a choice, why the nearest build does not fit. Each with the
// warning about an unused accelerator, and the newer versions that were passed over.
std::string decisions_table();

}  // namespace enginehost::resolve
