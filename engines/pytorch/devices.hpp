// The devices that libtorch computes on, and the mapping of their names to the plugin ABI.
#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engines/pytorch/failure.hpp"
#include "engines/support/cuda_driver.hpp"

namespace enginehost::engines::pytorch {

// Returns cpu:0 and the devices that libtorch can open in this process: CUDA's devices in the order of
// CUDA_VISIBLE_DEVICES, and Apple's GPU. Names, memory and UUIDs of CUDA devices come from the driver. [any]
std::vector<Device> list_devices();

// Returns the device as libtorch names it; throws a Failure (unavailable, with the available devices) when it
// is not in `devices`.
c10::Device to_torch(engine_device device, const std::vector<Device>& devices, engine_call* call);
engine_device from_torch(c10::Device device);

}  // namespace enginehost::engines::pytorch
