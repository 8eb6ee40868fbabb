// What a missing or false NVIDIA driver library means on this machine.
#pragma once
#include <vector>

#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Why there is no driver here: "container", "pci_device", or "no_gpu" where the bus was looked at and has
// none.
void add_driver_facts(const platform::Platform& platform, Diagnosis& diagnosis);

// Takes libcuda.so.1 out of "library missing" diagnoses and says instead, as EH-G01, why it is missing here;
// adds EH-G02 when the closure takes a toolkit's link stub for the driver, EH-G15 when WSL's is not looked
// at.
void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses);

// EH-G08 where the closure has the driver's library and the kernel has its module, but the device file
// through which the two speak is missing or closed (a container, a cgroup): path, os_said. The driver itself
// answers 100 or 999 then.
void judge_device_files(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                        std::vector<Diagnosis>& warnings);

}  // namespace enginehost::preflight
