// The GPUs the CUDA runtime opens in this process, or why there are none.
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
  // Whether this engine has a context there. Only then is the free memory asked for: asking makes a context,
  // which takes hundreds of megabytes of the device.
  std::atomic<bool> in_use{false};
};

struct Devices {
  std::vector<std::unique_ptr<Device>> list;  // in the order of CUDA_VISIBLE_DEVICES
  std::string driver_cuda;  // the newest CUDA the driver supports, "13.0"; "" without a driver
  Failure why_none;         // where the list is empty

  bool has(engine_device device) const {
    return (device.type == ENGINE_CUDA || device.type == ENGINE_CUDA_MANAGED) && device.index >= 0 &&
           static_cast<size_t>(device.index) < list.size();
  }
};

// Does not throw for a machine without driver or device; the reason is in the answer. [any]
Devices list_devices();

// The number of the CUDA device; throws a Failure (unavailable) with what there is instead.
int index_of(engine_device device, const Devices& devices);

}  // namespace enginehost::engines::cuda
