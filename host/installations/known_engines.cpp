#include "host/installations/parts.hpp"

namespace enginehost::installations {

std::span<const KnownEngine> known_engines() {
  static const auto& engines = *new std::vector<KnownEngine>{
      {.engine = "pytorch",
       .python_names = {"torch"},
       .conda_names = {"pytorch", "pytorch-cpu", "pytorch-gpu", "libtorch"},
       .debian_prefix = "libtorch",
       .package_folders = {"torch/lib"},
       .version_file = "torch/version.py",
       .version_name = "__version__",
       .main_libraries = {"libtorch_cpu.so"},
       // Omits libtorch_python, which would load Python into the process, and libtorch_global_deps, which
       // serves only it.
       .other_libraries = {"libtorch.so", "libc10.so"},
       .cuda_libraries = {"libtorch_cuda.so", "libtorch_cuda_cpp.so", "libtorch_cuda_cu.so",
                          "libtorch_cuda_linalg.so", "libc10_cuda.so", "libcaffe2_nvrtc.so"},
       .rocm_libraries = {"libtorch_hip.so", "libc10_hip.so"},
       // Only libc10's own symbols show the ABI: the wheels contain a part of libstdc++ with symbols of both
       // ABIs.
       .abi_library = "libc10.so",
       .abi_symbol = "torchCheckFail"},
      {.engine = "onnxruntime",
       .python_names = {"onnxruntime", "onnxruntime-gpu"},
       .conda_names = {"onnxruntime", "onnxruntime-cpp"},
       .debian_prefix = "libonnxruntime",
       .package_folders = {"onnxruntime/capi"},
       .version_file = "",
       .version_name = "",
       .main_libraries = {"libonnxruntime.so"},
       .other_libraries = {"libonnxruntime_providers_shared.so"},
       .cuda_libraries = {"libonnxruntime_providers_cuda.so"},
       .rocm_libraries = {"libonnxruntime_providers_rocm.so"},
       .abi_library = "",
       .abi_symbol = ""},
      {.engine = "tensorflow",
       .python_names = {"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel"},
       .conda_names = {"tensorflow-base", "libtensorflow", "libtensorflow_cc"},
       .debian_prefix = "libtensorflow",
       .package_folders = {"tensorflow"},
       .version_file = "tensorflow/_version.py",
       .version_name = "__version__",
       .main_libraries = {"libtensorflow_cc.so", "libtensorflow.so", "python/_pywrap_tensorflow_internal.so"},
       .other_libraries = {"libtensorflow_framework.so"},
       .cuda_libraries = {},
       .rocm_libraries = {},
       .abi_library = "",
       .abi_symbol = ""},
      {.engine = "mxnet",
       .python_names = {"mxnet", "mxnet-*"},
       .conda_names = {"libmxnet", "mxnet"},
       .debian_prefix = "libmxnet",
       .package_folders = {"mxnet"},
       .version_file = "mxnet/libinfo.py",
       .version_name = "__version__",
       .main_libraries = {"libmxnet.so"},
       .other_libraries = {},
       .cuda_libraries = {},
       .rocm_libraries = {},
       .abi_library = "",
       .abi_symbol = ""},
  };
  return engines;
}

const KnownEngine* find_engine(std::string_view engine) {
  for (const KnownEngine& one : known_engines())
    if (one.engine == engine) return &one;
  return nullptr;
}

}  // namespace enginehost::installations
