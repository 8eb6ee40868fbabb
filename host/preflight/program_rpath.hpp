// The libraries of a build that only this program finds.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Returns the libraries that glibc finds through the program's own DT_RPATH for `files` (opened after
// `order`) and their needs, whether or not the process has loaded them already. Needed libraries come before
// their users. Empty for most programs; the cost is then reading the program's headers.
std::vector<std::filesystem::path> found_via_program_rpath(const Spec& spec, linker::Reader& reader,
                                                           const std::vector<std::string>& order,
                                                           const std::vector<std::string>& files);

}  // namespace enginehost::preflight
