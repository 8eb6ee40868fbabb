// The devices of a loaded ONNX Runtime: the CPU, CUDA devices if its CUDA provider lies beside it and the
// driver lists some, and the devices of the execution provider that the build names.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>
#include <vector>

#include "engines/onnxruntime/c_api.hpp"
#include "engines/onnxruntime/failure.hpp"
#include "engines/support/cuda_driver.hpp"

namespace enginehost::engines::onnxruntime {

// The execution provider that the build's options name; its devices are the ABI's ENGINE_OTHER_DEVICE.
struct Provider {
  std::string kind;                         // of its devices: "ggml"; empty: the build names none
  std::string name;                         // as the runtime's profile names it
  std::vector<const OrtEpDevice*> devices;  // by their index; empty if the runtime lists none for it
};

struct Devices {
  std::vector<Device> list;   // the CPU first
  std::string cuda_provider;  // the provider's file; empty for a runtime that only has the CPU
  std::string why_no_cuda;    // with a provider: why it has no device
  Provider provider;
  bool has(engine_device device) const;
  // True for devices whose tensors this adapter holds: the CPU, and those of the provider, in host memory
  // too.
  bool reaches(engine_device device) const;
  // Returns "cuda:0", and "ggml:0" for a device of the provider.
  std::string name_of(engine_device device) const;
};

// Loads the driver and queries it; loads nothing else of CUDA. `library` is the runtime's own file.
Devices list_devices(const std::string& library);

// Throws a Failure with the reason unless `device` is available. Reports "device" and "missing_library".
void require_device(const Devices& devices, engine_device device, engine_call* call);

extern const engine_device_v1 device_table;

}  // namespace enginehost::engines::onnxruntime
