// The libraries of a build that only this program finds.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Of `files`, opened after `order`: what glibc finds for them and for what they need through the program's
// own DT_RPATH, whether the process holds it by now or not; what another one needs comes before it. Empty for
// most programs, at the price of reading the program's headers.
std::vector<std::filesystem::path> found_via_program_rpath(const Spec& spec, linker::Reader& reader,
                                                           const std::vector<std::string>& order,
                                                           const std::vector<std::string>& files);

}  // namespace enginehost::preflight
