// --from-index: a build of the package index that no repository lists, derived on this machine for one
// request.
#pragma once
#include "host/commands/derived_builds.hpp"

namespace enginehost::commands {

DerivedBuilds add_from_index(CLI::App& app, const char* group);

}  // namespace enginehost::commands
