// Checks whether the GPU code in a build's files suits the devices of this machine.
#pragma once
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// EH-G05 when devices are known, the files hold GPU code, and none of it runs on any visible device:
// device..., compute_capability..., sass (the code in the files). The code is read from an undocumented
// section and is a union over many kernels, so the finding is likely but not certain: it is a warning, and
// the probe decides. Reads the files only when there is a device to compare with.
void judge_gpu_code(const Spec& spec, const std::vector<std::string>& files,
                    std::vector<Diagnosis>& warnings);

}  // namespace enginehost::preflight
