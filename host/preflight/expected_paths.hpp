// Paths where a missing library would be found once it is installed.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "host/linker/machine.hpp"

namespace enginehost::preflight {

// Returns the paths in the folder whose appearance would satisfy the need: the file itself, and the file in
// each subfolder for newer processors that the loader tries first (glibc-hwcaps/x86-64-v3, tls). For a
// subfolder that does not exist, the first missing folder on the way. `exists` answers for folders of the
// machine.
std::vector<std::string> places_of(const linker::Machine& machine, const std::string& folder,
                                   const std::string& name,
                                   const std::function<bool(const std::string&)>& exists);

}  // namespace enginehost::preflight
