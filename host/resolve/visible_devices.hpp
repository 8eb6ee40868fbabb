// The NVIDIA devices that a process may use, by the rules of CUDA_VISIBLE_DEVICES (CUDA programming guide,
// "CUDA environment variables").
#pragma once
#include <string>
#include <vector>

#include "host/platform/platform.hpp"

namespace enginehost::resolve {

struct VisibleDevices {
  std::vector<const platform::CudaDevice*> devices;  // in CUDA's numbering
  bool certain =
      true;  // false: `why` says what could not be judged; `devices` are then those that may be visible
  std::string why;
};

// Uses the driver's own list if the driver was asked, else applies the variable. Not set: all devices. Empty:
// none. A list ends at its first invalid entry ("0,2,-1,1" is 0 and 2). "GPU-" entries may be unique
// prefixes. An entry that occurs twice makes the whole list invalid. The result points into `cuda.devices`.
VisibleDevices visible_devices(const platform::Cuda& cuda);

}  // namespace enginehost::resolve
