#include "engines/tensorflow/devices.hpp"

#include <sstream>

#include "engines/support/runtime_library.hpp"
#include "engines/tensorflow/instance.hpp"

namespace enginehost::engines::tensorflow {

Devices list_devices(const Session& on_cpu) {
  const std::string cpu = on_cpu.device_name("CPU");
  if (cpu.empty()) throw Failure{ENGINE_UNAVAILABLE, "TensorFlow lists no device of the type CPU."};
  Devices devices = only_cpu(cpu);
  if (on_cpu.runtime()->has_gpu_code()) add_cuda_devices(devices);
  return devices;
}

void open_cuda_libraries(const std::string& root, const char* paths, engine_call* call) {
  Devices devices;
  if (paths != nullptr) add_cuda_devices(devices);
  if (devices.list.empty()) return;
  // A constructor that takes the string over is newer than the floor (decision 033).
  const std::string text = paths;
  std::istringstream list(text);
  for (std::string path; std::getline(list, path, ',');) {
    const std::string file = wanted_library(root, "tensorflow.cuda", path.c_str(), call);
    open_runtime("A library of CUDA", file, call);
  }
}

extern const engine_device_v1 device_table = {count_devices<engine_instance>,
                                              describe_device<engine_instance>};

}  // namespace enginehost::engines::tensorflow
