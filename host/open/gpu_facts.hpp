// What an engine's CUDA error means on this machine: the number tells less than the machine's facts.
#pragma once
#include "base/diagnosis.hpp"
#include "cache/store.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::open {

// EH-G03 where there is no driver at all becomes EH-G01, else it gets the driver's version, what it supports,
// and, from a build whose flavor tells its toolkit, what would do. EH-G07 gets CUDA_VISIBLE_DEVICES where
// that hides the devices ("visible_devices", "devices") or may do so ("limited_to"). Others stay as they are.
void add_gpu_facts(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& reported);

}  // namespace enginehost::open
