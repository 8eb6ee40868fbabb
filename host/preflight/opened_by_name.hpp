// Libraries that another one opens by name when it needs them: nothing in the file says so but the text of
// the name.
#pragma once
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"
#include "host/preflight/view_index.hpp"

namespace enginehost::preflight {

// EH-R15 for each of `files` (and of the closure behind them) that is known to open its parts by name (cuDNN,
// NVRTC) and whose parts are neither in the build nor where the loader looks: library..., needed_by,
// searched... . The name is read from the file and what is done with it is not, so that this is a likely
// failure, never a certain one.
std::vector<Diagnosis> missing_parts(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                     const std::vector<std::string>& files);

// Libraries of the build that one of `files` opens by name and whose folder its own RUNPATH does not lead to.
// Which file the loader would find for them, if any, is the machine's affair; once the build's own is open,
// its SONAME answers. cuDNN 9 for CUDA 11 looks for NVRTC in "nvrtc/lib", where no wheel has it, and NVRTC 13
// has no RUNPATH at all to find its builtins by.
std::vector<std::string> parts_out_of_reach(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                            const std::vector<std::string>& files);

}  // namespace enginehost::preflight
