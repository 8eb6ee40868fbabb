// Where a library that is missing would be found once it is installed.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "host/linker/machine.hpp"

namespace enginehost::preflight {

// The paths whose appearing would serve a need of that name in the folder: the file itself, and in each of
// the folders for newer processors that the loader tries first (glibc-hwcaps/x86-64-v3, tls), or the first of
// those that does not exist yet. `exists` tells of folders of the machine.
std::vector<std::string> places_of(const linker::Machine& machine, const std::string& folder,
                                   const std::string& name,
                                   const std::function<bool(const std::string&)>& exists);

}  // namespace enginehost::preflight
