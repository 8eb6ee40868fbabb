// Which NVIDIA devices a process may use: the rules of CUDA_VISIBLE_DEVICES (CUDA programming guide, "CUDA
// environment variables").
#pragma once
#include <string>
#include <vector>

#include "host/platform/platform.hpp"

namespace enginehost::resolve {

struct VisibleDevices {
  std::vector<const platform::CudaDevice*> devices;  // in the order in which CUDA will number them
  bool certain =
      true;  // false: `why` says what could not be judged; `devices` are then those that may be visible
  std::string why;
};

// Where the driver was asked, what it showed. Reports that were made without it are judged by the variable.
// Not set: all. Empty: none. A list ends at its first invalid entry ("0,2,-1,1" is 0 and 2); "GPU-" entries
// may be unique prefixes; an entry that occurs twice makes the whole list invalid. The result points into
// `cuda.devices`.
VisibleDevices visible_devices(const platform::Cuda& cuda);

}  // namespace enginehost::resolve
