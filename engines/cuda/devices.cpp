#include "engines/cuda/devices.hpp"

#include <cstring>

#include "engines/cuda/instance.hpp"
#include "engines/cuda/memory.hpp"

namespace enginehost::engines::cuda {
namespace {

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

Failure no_devices(cudaError_t error, int driver) {
  if (error == cudaSuccess) error = cudaErrorNoDevice;
  Failure failure = failed_call(error, "cudaGetDeviceCount", -1);
  // The runtime returns cudaErrorInsufficientDriver both for a driver that is too old and for a missing one;
  // a missing driver has version 0 (CUDA Runtime API, cudaDriverGetVersion).
  if (driver == 0) {
    failure.message =
        "There is no NVIDIA driver for CUDA " + cuda_version(CUDART_VERSION) + ": " + failure.message;
    failure.details.emplace_back("found", cuda_version(driver));
  } else {
    failure.message = "There is no CUDA device: " + failure.message + "; the driver supports CUDA " +
                      cuda_version(driver) + ", this build needs " + cuda_version(CUDART_VERSION);
    failure.details.emplace_back("found", cuda_version(driver));
  }
  failure.details.emplace_back("required", cuda_version(CUDART_VERSION));
  failure.status = ENGINE_UNAVAILABLE;
  return failure;
}

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.list.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  return catch_all(call, [&] {
    const Devices& devices = engine->devices;
    if (number >= devices.list.size()) {
      Failure failure{ENGINE_INVALID, "There are " + std::to_string(devices.list.size()) +
                                          " devices, and number " + std::to_string(number) +
                                          " was requested."};
      if (devices.list.empty()) failure.message += " " + devices.why_none.message + ".";
      throw failure;
    }
    const Device& device = *devices.list[number];
    engine_device_info info{};
    info.size = out->size;
    info.device = {ENGINE_CUDA, static_cast<int32_t>(number)};
    info.kind = "cuda";
    info.name = device.name.c_str();
    info.architecture = device.architecture.c_str();
    info.driver = devices.driver_cuda.c_str();
    std::memcpy(info.uuid, device.uuid.data(), device.uuid.size());
    info.memory_total = device.memory_total;
    if (device.in_use) {
      OnDevice here(static_cast<int>(number));
      size_t unused = 0, all = 0;
      check(cudaMemGetInfo(&unused, &all), "cudaMemGetInfo", static_cast<int>(number));
      info.memory_free = unused;
    }
    std::memcpy(static_cast<void*>(out), &info, out->size < sizeof info ? out->size : sizeof info);
  });
}

}  // namespace

const engine_device_v1 device_table = {device_count, device_info};

Devices list_devices() {
  Devices out;
  int driver = 0, count = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (driver != 0) out.driver_cuda = cuda_version(driver);
  cudaError_t error = cudaGetDeviceCount(&count);
  for (int i = 0; i < count && error == cudaSuccess; i++) {
    cudaDeviceProp properties{};
    error = cudaGetDeviceProperties(&properties, i);
    if (error != cudaSuccess) break;
    auto device = std::make_unique<Device>();
    device->name = properties.name;
    device->architecture = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    std::memcpy(device->uuid.data(), &properties.uuid, device->uuid.size());
    device->memory_total = properties.totalGlobalMem;
    out.list.push_back(std::move(device));
  }
  if (error != cudaSuccess) out.list.clear();
  if (out.list.empty()) out.why_none = no_devices(error, driver);
  static_cast<void>(cudaGetLastError());  // reported above; clears the error for the next call
  return out;
}

int index_of(engine_device device, const Devices& devices) {
  if (devices.has(device)) return device.index;
  Text wanted;
  wanted.device(device);
  if (devices.list.empty()) {
    Failure failure = devices.why_none;
    failure.details.emplace_back("device", wanted.c_str());
    throw failure;
  }
  Failure failure{ENGINE_UNAVAILABLE,
                  std::string("This engine has cuda:0") +
                      (devices.list.size() > 1 ? " to cuda:" + std::to_string(devices.list.size() - 1) : "") +
                      " here, not " + wanted.c_str() + "."};
  failure.details.emplace_back("device", wanted.c_str());
  throw failure;
}

}  // namespace enginehost::engines::cuda
