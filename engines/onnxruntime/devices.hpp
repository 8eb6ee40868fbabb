// The devices a loaded ONNX Runtime can be asked for: the CPU, and those of CUDA where its provider for them
// lies beside it and the driver knows some.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>
#include <vector>

#include "engines/onnxruntime/failure.hpp"
#include "engines/support/cuda_driver.hpp"

namespace enginehost::engines::onnxruntime {

struct Devices {
  std::vector<Device> list;   // the CPU first
  std::string cuda_provider;  // the provider's file, or empty: this is a runtime for the CPU
  std::string why_no_cuda;    // with a provider: why there is no device for it
  bool has(engine_device device) const;
};

// Asks the driver, which is loaded for it; nothing else of CUDA is. `library` is the runtime's own file.
Devices list_devices(const std::string& library);

// A Failure that says why `device` cannot be had, unless it can. Reports "device" and "missing_library".
void require_device(const Devices& devices, engine_device device, engine_call* call);

extern const engine_device_v1 device_table;

}  // namespace enginehost::engines::onnxruntime
