// The devices of a loaded ONNX Runtime: the CPU, and CUDA devices if its CUDA provider lies beside it and the
// driver lists some.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>
#include <vector>

#include "engines/onnxruntime/failure.hpp"
#include "engines/support/cuda_driver.hpp"

namespace enginehost::engines::onnxruntime {

struct Devices {
  std::vector<Device> list;   // the CPU first
  std::string cuda_provider;  // the provider's file; empty for a runtime that only has the CPU
  std::string why_no_cuda;    // with a provider: why it has no device
  bool has(engine_device device) const;
};

// Loads the driver and queries it; loads nothing else of CUDA. `library` is the runtime's own file.
Devices list_devices(const std::string& library);

// Throws a Failure with the reason unless `device` is available. Reports "device" and "missing_library".
void require_device(const Devices& devices, engine_device device, engine_call* call);

extern const engine_device_v1 device_table;

}  // namespace enginehost::engines::onnxruntime
