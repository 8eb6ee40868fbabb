// NVIDIA's tables about drivers and toolkits, as functions.
// Sources: CUDA 13.1 release notes, tables 2 and 3; docs.nvidia.com/deploy/cuda-compatibility.
#pragma once
#include <string>
#include <string_view>

namespace enginehost::resolve {

// Returns the newest CUDA version that a driver supports: "12.2" for 535.104.05. Empty: older than CUDA
// 10.0's driver.
std::string cuda_of_driver(std::string_view driver, bool windows);

// Returns the oldest driver that runs builds of that toolkit natively; empty if the table lacks the toolkit.
std::string native_driver(std::string_view toolkit, bool windows);

// Returns the oldest driver that runs every minor version of that CUDA major ("minor version compatibility").
// Empty: NVIDIA gives no such guarantee, as for CUDA 10 and before.
std::string minor_version_driver(int toolkit_major, bool windows);

}  // namespace enginehost::resolve
