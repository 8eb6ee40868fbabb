#include "engines/onnxruntime/devices.hpp"

#include "engines/onnxruntime/instance.hpp"
#include "engines/onnxruntime/system.hpp"

namespace enginehost::engines::onnxruntime {
namespace {

// What is used of the CUDA Driver API (NVIDIA, "CUDA Driver API", Device Management), declared here because
// this is compiled without CUDA. The driver stays loaded: the provider uses it from then on.
struct Driver {
  Driver() {
    handle = open_library(driver_name, true, problem);
    if (handle == nullptr) return;
    const bool whole = find("cuInit", init) && find("cuDeviceGetCount", count) && find("cuDeviceGet", get) &&
                       find("cuDeviceGetName", name) && find("cuDeviceTotalMem_v2", memory) &&
                       find("cuDeviceGetAttribute", attribute) && find("cuDeviceGetUuid", uuid) &&
                       find("cuDriverGetVersion", version);
    if (!whole) problem = std::string(driver_name) + " lacks functions that every driver has";
  }
  template <class Function>
  bool find(const char* symbol, Function& out) {
    out = reinterpret_cast<Function>(find_symbol(handle, symbol));
    return out != nullptr;
  }
  void* handle = nullptr;
  std::string problem;
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*name)(char*, int, int) = nullptr;
  int (*memory)(size_t*, int) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;
  int (*uuid)(uint8_t*, int) = nullptr;
  int (*version)(int*) = nullptr;
};
constexpr int capability_major = 75, capability_minor = 76;  // CUdevice_attribute

Device cuda_device(const Driver& driver, int index) {
  Device out;
  out.device = {ENGINE_CUDA, index};
  out.kind = "cuda";
  int handle = 0, major = 0, minor = 0, version = 0;
  if (driver.get(&handle, index) != 0) return out;
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

void add_cuda_devices(Devices& devices) {
  const Driver driver;
  if (!driver.problem.empty()) {
    devices.why_no_cuda = "there is no NVIDIA driver: " + driver.problem;
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

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.list.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  const std::vector<Device>& list = engine->devices.list;
  if (number >= list.size()) {
    Text text;
    if (list.size() == 1)
      text << "There is one device";
    else
      text << "There are " << static_cast<int64_t>(list.size()) << " devices";
    return refuse(call, ENGINE_INVALID, "", text << ", and number " << int64_t{number} << " was asked for.");
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

}  // namespace

bool Devices::has(engine_device device) const {
  for (const Device& one : list) {
    if (one.device.type == device.type && one.device.index == device.index) return true;
  }
  return false;
}

Devices list_devices(const std::string& library) {
  Devices devices;
  Device cpu;
  cpu.device = {ENGINE_CPU, 0};
  cpu.kind = "cpu";
  cpu.name = "CPUExecutionProvider";
  devices.list.push_back(cpu);
  const std::string provider = beside(library, provider_name);
  if (!exists(provider)) return devices;
  devices.cuda_provider = provider;
  add_cuda_devices(devices);
  return devices;
}

void require_device(const Devices& devices, engine_device device, engine_call* call) {
  if (devices.has(device)) return;
  Text wanted;
  wanted.device(device);
  call->detail(call, "device", wanted.c_str());
  std::string message;
  if (device.type == ENGINE_CUDA && !devices.cuda_provider.empty() && !devices.why_no_cuda.empty()) {
    report_missing_library(devices.why_no_cuda, call);
    message = std::string(wanted.c_str()) + " cannot be had: " + devices.why_no_cuda;
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

extern const engine_device_v1 device_table = {device_count, device_info};

}  // namespace enginehost::engines::onnxruntime
