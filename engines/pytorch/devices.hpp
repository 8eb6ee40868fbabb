// The devices libtorch computes on, and how the plugin ABI and libtorch name them.
#pragma once
#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engines/pytorch/failure.hpp"
#include "engines/support/cuda_driver.hpp"

namespace enginehost::engines::pytorch {

// cpu:0 and whatever libtorch can open in this process: CUDA's devices in the order CUDA_VISIBLE_DEVICES
// gives them, and Apple's GPU. Names, memory and UUIDs of CUDA devices are asked of the driver. [any]
std::vector<Device> list_devices();

// The device as libtorch names it; throws a Failure (unavailable, with what there is) when `devices` has it
// not.
c10::Device to_torch(engine_device device, const std::vector<Device>& devices, engine_call* call);
engine_device from_torch(c10::Device device);

}  // namespace enginehost::engines::pytorch
