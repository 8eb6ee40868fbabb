// The devices of an adapter that is compiled without CUDA: the CPU, and the CUDA devices that NVIDIA's driver
// lists if the loaded library has code for them.
#pragma once
#include "engines/support/cuda_driver.hpp"
#include "engines/support/failure.hpp"

namespace enginehost::engines {

struct Devices {
  std::vector<Device> list;     // the CPU first
  bool has_cuda_code = false;   // the build can compute on CUDA devices
  std::string why_no_cuda;      // with CUDA code: why there is no device
  std::string missing_library;  // the library whose absence is the reason

  bool has(engine_device device) const {
    for (const Device& one : list) {
      if (one.device.type == device.type && one.device.index == device.index) return true;
    }
    return false;
  }
};

inline Devices only_cpu(std::string name) {
  Devices devices;
  devices.list.push_back({{ENGINE_CPU, 0}, "cpu", std::move(name), "", "", {}, 0});
  return devices;
}

// Adds the devices of the driver `name`, which was opened as `handle`, or was not (nullptr) because of
// `problem`. The driver must stay loaded, because the engine uses it afterwards.
inline void add_cuda_devices(Devices& devices, const char* name, void* handle, CudaDriver::Find find,
                             const std::string& problem) {
  devices.has_cuda_code = true;
  const CudaDriver driver(handle, find);
  if (!driver.usable) {
    devices.why_no_cuda =
        "there is no NVIDIA driver: " +
        (handle == nullptr ? problem : std::string(name) + " lacks functions that every driver has");
    return;
  }
  int code = driver.init(0), count = 0;
  const char* asked = "cuInit";
  if (code == 0) {
    asked = "cuDeviceGetCount";
    code = driver.count(&count);
  }
  if (code != 0 || count == 0)
    devices.why_no_cuda = std::string("the driver has no device: ") + asked + " answers " +
                          (code != 0 ? "error " + std::to_string(code) : "none");
  for (int i = 0; code == 0 && i < count; i++) devices.list.push_back(cuda_device(driver, i));
}

// Throws a Failure with the reason unless `device` is available. Reports "device" and "missing_library".
inline void require_device(const Devices& devices, engine_device device, engine_call* call) {
  if (devices.has(device)) return;
  Text wanted;
  wanted.device(device);
  call->detail(call, "device", wanted.c_str());
  std::string message;
  if (device.type == ENGINE_CUDA && !devices.why_no_cuda.empty()) {
    if (!devices.missing_library.empty())
      call->detail(call, "missing_library", devices.missing_library.c_str());
    message = std::string(wanted.c_str()) + " is not available: " + devices.why_no_cuda;
  } else {
    message = "This build has ";
    for (size_t i = 0; i < devices.list.size(); i++) {
      Text one;
      message += (i == 0 ? "" : ", ") + std::string(one.device(devices.list[i].device).c_str());
    }
    message = (devices.list.size() == 1 ? "This build has only cpu:0" : message) + ", not " + wanted.c_str();
  }
  throw Failure{ENGINE_UNAVAILABLE, message + "."};
}

// First step of every self-test. Throws a Failure: invalid for a kind of device that the build has no code
// for, unavailable for another device that is not there, canceled for a canceled call.
inline void require_testable(const Devices& devices, engine_device device, engine_call* call) {
  if (!devices.has_cuda_code && !devices.has(device)) {
    Text text;
    call->detail(call, "device", text.device(device).c_str());
    throw Failure{ENGINE_INVALID, "This build has only cpu:0."};
  }
  require_device(devices, device, call);
  if (call->is_cancelled(call) != 0)
    throw Failure{ENGINE_CANCELLED, "The self-test was stopped before it began."};
}

// The functions of engine.device/1 for an instance with a member `devices`.
template <class Instance>
uint32_t count_devices(Instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.list.size());
}
template <class Instance>
engine_status describe_device(Instance* engine, uint32_t number, engine_device_info* out,
                              engine_call* call) noexcept {
  return report_device(engine->devices.list, number, out, call);
}

}  // namespace enginehost::engines
