// Adds facts about the machine's GPUs to a CUDA error of an engine.
#pragma once
#include "base/diagnosis.hpp"
#include "cache/store.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::open {

// Changes EH-G03 to EH-G01 if there is no driver at all. Otherwise adds the driver's version, what it
// supports, and the version that the build's flavor needs. Adds CUDA_VISIBLE_DEVICES to EH-G07 if it hides
// the devices ("visible_devices", "devices") or may do so ("limited_to"). Leaves other diagnoses unchanged.
void add_gpu_facts(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& diagnosis);

}  // namespace enginehost::open
