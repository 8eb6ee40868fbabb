// NVIDIA's tables about drivers and toolkits, as functions.
// Sources: CUDA 13.1 release notes, tables 2 and 3; docs.nvidia.com/deploy/cuda-compatibility.
#pragma once
#include <string>
#include <string_view>

namespace enginehost::resolve {

// The newest CUDA that a driver supports, by its version: 535.104.05 is "12.2" (empty: older than
// CUDA 10.0's).
std::string cuda_of_driver(std::string_view driver, bool windows);

// The oldest driver on which builds of that toolkit run natively; empty when the table does not have the
// toolkit.
std::string native_driver(std::string_view toolkit, bool windows);

// The oldest driver that runs every minor version of that CUDA major ("minor version compatibility"); empty:
// the major has no such promise, as CUDA 10 and before.
std::string minor_version_driver(int toolkit_major, bool windows);

}  // namespace enginehost::resolve
