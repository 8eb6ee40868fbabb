#include "engines/pytorch/devices.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/csrc/api/include/torch/cuda.h>

#include <cstring>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {
namespace {

// What is used of the CUDA Driver API (NVIDIA, "CUDA Driver API", Device Management), declared here because a
// build for the CPU has no header of it. libtorch has loaded the driver by the time this is asked; nothing
// else would make a device.
struct Driver {
  template <class Function>
  bool find(const char* symbol, Function& out) {
    out = reinterpret_cast<Function>(dlsym(handle, symbol));
    return out != nullptr;
  }
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*uuid)(uint8_t*, int) = nullptr;
  int (*version)(int*) = nullptr;
  bool usable = handle != nullptr && find("cuDeviceGet", get) && find("cuDeviceGetName", name) &&
                find("cuDeviceTotalMem_v2", memory) && find("cuDeviceGetAttribute", attribute) &&
                find("cuDeviceGetUuid", uuid) && find("cuDriverGetVersion", version);
};
constexpr int capability_major = 75, capability_minor = 76;  // CUdevice_attribute

Device cuda_device(Driver& driver, int index) {
  Device out{{ENGINE_CUDA, index}, "cuda", "", "", "", {}, 0};
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

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  if (number >= engine->devices.size()) {
    Text text;
    return refuse(call, ENGINE_INVALID, "",
                  text << "There are " << static_cast<int64_t>(engine->devices.size())
                       << " devices, and number " << int64_t{number} << " was asked for.");
  }
  const Device& device = engine->devices[number];
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

}  // namespace

const engine_device_v1 device_table = {device_count, device_info};

std::vector<Device> list_devices() {
  std::vector<Device> out{{{ENGINE_CPU, 0}, "cpu", "ATen", "", "", {}, 0}};
  size_t cuda = torch::cuda::device_count();
  if (cuda > 0) {
    Driver driver;
    for (size_t i = 0; i < cuda; i++) out.push_back(cuda_device(driver, static_cast<int>(i)));
  }
  if (at::hasMPS()) out.push_back({{ENGINE_METAL, 0}, "mps", "Metal Performance Shaders", "", "", {}, 0});
  return out;
}

c10::Device to_torch(engine_device device, const std::vector<Device>& devices, engine_call* call) {
  if (in_host_memory(device)) return c10::Device(c10::kCPU);
  Text wanted, have;
  wanted.device(device);
  for (const Device& one : devices) {
    if (one.device.type == device.type && one.device.index == device.index) {
      auto index = static_cast<c10::DeviceIndex>(device.index);
      return device.type == ENGINE_METAL ? c10::Device(c10::kMPS, index) : c10::Device(c10::kCUDA, index);
    }
    have << (&one == devices.data() ? "" : ", ");
    have.device(one.device);
  }
  call->detail(call, "device", wanted.c_str());
  throw Failure{ENGINE_UNAVAILABLE, std::string("This build of PyTorch has ") + have.c_str() + " here, not " +
                                        wanted.c_str() + "."};
}

engine_device from_torch(c10::Device device) {
  int32_t index = device.has_index() ? device.index() : 0;
  if (device.is_cuda()) return {ENGINE_CUDA, index};
  if (device.type() == c10::kMPS) return {ENGINE_METAL, index};
  return {device.is_cpu() ? ENGINE_CPU : ENGINE_OTHER_DEVICE, device.is_cpu() ? 0 : index};
}

bool tells_of_a_lost_device(const std::string& message) {
  for (const char* text :
       {"illegal memory access", "unspecified launch failure", "device-side assert", "misaligned address",
        "uncorrectable ECC error", "hardware stack error", "illegal instruction", "fallen off the bus"}) {
    if (message.find("CUDA error") != std::string::npos && message.find(text) != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace enginehost::engines::pytorch
