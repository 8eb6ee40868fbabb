// The GPUs that the CUDA runtime can open in this process, or why there are none.
#pragma once
#include <array>
#include <atomic>
#include <memory>

#include "engines/cuda/failure.hpp"

namespace enginehost::engines::cuda {

struct Device {
  std::string name, architecture;
  std::array<uint8_t, 16> uuid{};
  uint64_t memory_total = 0;
  // True once this engine has a context there. Only then is the free memory queried: the query creates a
  // context, which takes hundreds of megabytes of the device.
  std::atomic<bool> in_use{false};
};

struct Devices {
  std::vector<std::unique_ptr<Device>> list;  // in the order of CUDA_VISIBLE_DEVICES
  std::string driver_cuda;  // the newest CUDA the driver supports, "13.0"; "" without a driver
  Failure why_none;         // when the list is empty

  bool has(engine_device device) const {
    return (device.type == ENGINE_CUDA || device.type == ENGINE_CUDA_MANAGED) && device.index >= 0 &&
           static_cast<size_t>(device.index) < list.size();
  }
};

// Does not throw when there is no driver or device; the result contains the reason. [any]
Devices list_devices();

// Returns the number of the CUDA device; throws a Failure (unavailable) that lists the devices instead.
int index_of(engine_device device, const Devices& devices);

}  // namespace enginehost::engines::cuda
