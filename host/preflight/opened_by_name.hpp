// Libraries that another library opens by name when it needs them. Only the text of the name in the file
// shows this.
#pragma once
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"
#include "host/preflight/view_index.hpp"

namespace enginehost::preflight {

// EH-R15 for each of `files` (and of their closure) that is known to open its parts by name (cuDNN, NVRTC)
// and whose parts are neither in the build nor in the loader's search: library..., needed_by, searched... .
// The file shows the name but not how it is used, so this is a likely failure, never a certain one.
std::vector<Diagnosis> missing_parts(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                     const std::vector<std::string>& files);

// Returns libraries of the build that one of `files` opens by name and that its own RUNPATH does not reach.
// Without help the machine decides which file the loader finds for them; once the build's own is open, its
// SONAME matches. cuDNN 9 for CUDA 11 searches NVRTC in "nvrtc/lib", where no wheel has it, and NVRTC 13 has
// no RUNPATH at all to find its builtins.
std::vector<std::string> parts_out_of_reach(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                            const std::vector<std::string>& files);

}  // namespace enginehost::preflight
