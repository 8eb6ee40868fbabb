// Explains a missing or wrong NVIDIA driver library on this machine.
#pragma once
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Adds why there is no driver here: "container", "pci_device", or "no_gpu" if the bus was read and has none.
void add_driver_facts(const platform::Platform& platform, Diagnosis& diagnosis);

// Replaces "library missing" diagnoses of libcuda.so.1 with EH-G01, which explains why it is missing here.
// Adds EH-G02 when the closure takes a toolkit's link stub for the driver, and EH-G15 when WSL's library is
// not in the loader's search.
void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses);

// EH-G08 when the closure has the driver's library and the kernel has its module, but the device file between
// them is missing or not accessible (a container, a cgroup): path, os_said. The driver itself returns 100 or
// 999 then.
void judge_device_files(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                        std::vector<Diagnosis>& warnings);

}  // namespace enginehost::preflight
