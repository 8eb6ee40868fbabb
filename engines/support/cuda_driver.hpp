// Devices of an engine, and facts about CUDA devices from NVIDIA's driver, for an adapter that is compiled
// without CUDA. The functions of the CUDA Driver API (NVIDIA, "CUDA Driver API", Device Management) are
// declared here.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engines/support/text.hpp"

namespace enginehost::engines {

struct Device {
  engine_device device{};
  std::string kind, name, architecture, driver;
  std::array<uint8_t, 16> uuid{};
  uint64_t memory_total = 0;  // bytes
};

// The functions of a driver that the owner of `handle` has opened. `find` is dlsym or the system's
// equivalent.
struct CudaDriver {
  using Find = void* (*)(void* handle, const char* name);
  CudaDriver(void* handle, Find find)
      : usable(handle != nullptr && take(handle, find, "cuInit", init) &&
               take(handle, find, "cuDeviceGetCount", count) && take(handle, find, "cuDeviceGet", get) &&
               take(handle, find, "cuDeviceGetName", name) &&
               take(handle, find, "cuDeviceTotalMem_v2", memory) &&
               take(handle, find, "cuDeviceGetAttribute", attribute) &&
               take(handle, find, "cuDeviceGetUuid", uuid) &&
               take(handle, find, "cuDriverGetVersion", version)) {}

  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*uuid)(uint8_t*, int) = nullptr;
  int (*version)(int*) = nullptr;
  bool usable;  // last, because initializing it fills the others

 private:
  template <class Function>
  static bool take(void* handle, Find find, const char* symbol, Function& out) {
    out = reinterpret_cast<Function>(find(handle, symbol));
    return out != nullptr;
  }
};

// Returns the driver's facts about one device; unknown facts stay empty. cuInit must have been called.
inline Device cuda_device(const CudaDriver& driver, int index) {
  constexpr int capability_major = 75, capability_minor = 76;  // CUdevice_attribute
  Device out;
  out.device = {ENGINE_CUDA, index};
  out.kind = "cuda";
  int handle = 0, major = 0, minor = 0, version = 0;
  if (!driver.usable || driver.get(&handle, index) != 0) return out;
  char name[256] = {};
  if (driver.name(name, static_cast<int>(sizeof name), handle) == 0) out.name = name;
  size_t bytes = 0;
  if (driver.memory(&bytes, handle) == 0) out.memory_total = bytes;
  if (driver.attribute(&major, capability_major, handle) == 0 &&
      driver.attribute(&minor, capability_minor, handle) == 0) {
    out.architecture = std::to_string(major) + "." + std::to_string(minor);
  }
  if (driver.uuid(out.uuid.data(), handle) != 0) out.uuid = {};
  if (driver.version(&version) == 0)
    out.driver = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return out;
}

// Implements info() of engine.device/1 for device `number` of `list`; the texts belong to the list.
inline engine_status report_device(const std::vector<Device>& list, uint32_t number, engine_device_info* out,
                                   engine_call* call) {
  if (number >= list.size()) {
    Text text;
    if (list.size() == 1)
      text << "There is one device";
    else
      text << "There are " << static_cast<int64_t>(list.size()) << " devices";
    return refuse(call, ENGINE_INVALID, "", text << ", and number " << int64_t{number} << " was requested.");
  }
  const Device& device = list[number];
  engine_device_info info{};
  info.size = out->size;
  info.device = device.device;
  info.kind = device.kind.c_str();
  info.name = device.name.c_str();
  info.architecture = device.architecture.c_str();
  info.driver = device.driver.c_str();
  std::memcpy(info.uuid, device.uuid.data(), device.uuid.size());
  info.memory_total = device.memory_total;
  std::memcpy(static_cast<void*>(out), &info, out->size < sizeof info ? out->size : sizeof info);
  return ENGINE_OK;
}

}  // namespace enginehost::engines
