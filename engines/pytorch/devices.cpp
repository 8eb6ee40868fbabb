#include "engines/pytorch/devices.hpp"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <torch/csrc/api/include/torch/cuda.h>

#include <cstring>

#include "engines/pytorch/instance.hpp"

namespace enginehost::engines::pytorch {
namespace {

uint32_t device_count(engine_instance* engine) noexcept {
  return static_cast<uint32_t>(engine->devices.size());
}

engine_status device_info(engine_instance* engine, uint32_t number, engine_device_info* out,
                          engine_call* call) noexcept {
  return report_device(engine->devices, number, out, call);
}

// Returns why libtorch lists no CUDA device; empty if it was built without CUDA or gives no reason. Its count
// of devices hides CUDA's error, and the first use of a device reports it.
std::string why_no_cuda() {
  if (!at::detail::getCUDAHooks().hasCUDART()) return "";
  try {
    at::empty({1}, at::TensorOptions().device(at::kCUDA));
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

}  // namespace

const engine_device_v1 device_table = {device_count, device_info};

std::vector<Device> list_devices() {
  std::vector<Device> out{{{ENGINE_CPU, 0}, "cpu", "ATen", "", "", {}, 0}};
  size_t cuda = torch::cuda::device_count();
  if (cuda > 0) {
    // libtorch has loaded the driver already; otherwise it would list no device.
    const CudaDriver driver(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), dlsym);
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
  if (device.type == ENGINE_CUDA && devices.size() == 1)
    if (const std::string why = why_no_cuda(); !why.empty())
      throw Failure{ENGINE_UNAVAILABLE, std::string(wanted.c_str()) + " is not available: " + why};
  throw Failure{ENGINE_UNAVAILABLE, std::string("This build of PyTorch has ") + have.c_str() + " here, not " +
                                        wanted.c_str() + "."};
}

engine_device from_torch(c10::Device device) {
  int32_t index = device.has_index() ? device.index() : 0;
  if (device.is_cuda()) return {ENGINE_CUDA, index};
  if (device.type() == c10::kMPS) return {ENGINE_METAL, index};
  return {device.is_cpu() ? ENGINE_CPU : ENGINE_OTHER_DEVICE, device.is_cpu() ? 0 : index};
}

bool reports_a_lost_device(const std::string& message) {
  for (const char* text :
       {"illegal memory access", "unspecified launch failure", "device-side assert", "misaligned address",
        "uncorrectable ECC error", "hardware stack error", "illegal instruction", "fallen off the bus"}) {
    if (message.find("CUDA error") != std::string::npos && message.find(text) != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace enginehost::engines::pytorch
