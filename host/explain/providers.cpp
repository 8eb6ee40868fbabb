#include "host/explain/providers.hpp"

#include "base/text.hpp"

namespace enginehost::explain {
namespace {

struct Row {
  std::string_view file;  // a whole SONAME, or its beginning up to and with ".so"
  std::string_view what, debian, conda, package_index, vendor;
  bool driver = false;
};

// SONAMEs of CUDA do not follow its version: libcufft.so.11 belongs to CUDA 12, libcudart.so.11.0 to all
// of 11.x. Names of NVIDIA's packages: those of CUDA 11 and 12 end in -cu11, -cu12; those of 13 have no
// ending.
constexpr Row rows[] = {
    {"libcuda.so.1", "NVIDIA driver", "nvidia-driver", "", "", "the NVIDIA driver for this GPU", true},
    {"libnvidia-ml.so.1", "NVIDIA driver (management)", "nvidia-driver", "", "", "the NVIDIA driver", true},
    {"libnvidia-ptxjitcompiler.so.1", "NVIDIA driver (compiler)", "nvidia-driver", "", "",
     "the NVIDIA driver", true},
    {"libcudart.so.10.2", "CUDA runtime 10.2", "", "cudatoolkit=10.2", "", "CUDA toolkit 10.2"},
    {"libcudart.so.11.0", "CUDA runtime 11", "libcudart11.0", "cudatoolkit=11.8", "nvidia-cuda-runtime-cu11",
     ""},
    {"libcudart.so.12", "CUDA runtime 12", "", "cuda-cudart=12", "nvidia-cuda-runtime-cu12",
     "cuda-cudart-12-*"},
    {"libcudart.so.13", "CUDA runtime 13", "", "cuda-cudart=13", "nvidia-cuda-runtime", "cuda-cudart-13-*"},
    {"libcublas.so.11", "CUDA BLAS 11", "libcublas11", "cudatoolkit=11.8", "nvidia-cublas-cu11", ""},
    {"libcublas.so.12", "CUDA BLAS 12", "", "libcublas=12", "nvidia-cublas-cu12", "libcublas-12-*"},
    {"libcublas.so.13", "CUDA BLAS 13", "", "libcublas=13", "nvidia-cublas", "libcublas-13-*"},
    {"libcublasLt.so.11", "CUDA BLAS 11", "libcublaslt11", "cudatoolkit=11.8", "nvidia-cublas-cu11", ""},
    {"libcublasLt.so.12", "CUDA BLAS 12", "", "libcublas=12", "nvidia-cublas-cu12", "libcublas-12-*"},
    {"libcublasLt.so.13", "CUDA BLAS 13", "", "libcublas=13", "nvidia-cublas", "libcublas-13-*"},
    {"libcufft.so.10", "CUDA FFT of CUDA 11", "libcufft10", "cudatoolkit=11.8", "nvidia-cufft-cu11", ""},
    {"libcufft.so.11", "CUDA FFT of CUDA 12", "", "libcufft=11", "nvidia-cufft-cu12", "libcufft-12-*"},
    {"libcufft.so.12", "CUDA FFT of CUDA 13", "", "libcufft=12", "nvidia-cufft", "libcufft-13-*"},
    {"libcurand.so.10", "CUDA random numbers", "libcurand10", "libcurand", "nvidia-curand-cu12",
     "libcurand-12-*"},
    {"libcusolver.so.11", "CUDA solver of CUDA 11 and 12", "libcusolver11", "libcusolver=11",
     "nvidia-cusolver-cu12", "libcusolver-12-*"},
    {"libcusolver.so.12", "CUDA solver of CUDA 13", "", "libcusolver=12", "nvidia-cusolver",
     "libcusolver-13-*"},
    {"libcusparse.so.11", "CUDA sparse of CUDA 11", "libcusparse11", "cudatoolkit=11.8",
     "nvidia-cusparse-cu11", ""},
    {"libcusparse.so.12", "CUDA sparse of CUDA 12 and 13", "", "libcusparse=12", "nvidia-cusparse-cu12",
     "libcusparse-12-*"},
    {"libnvrtc.so.11.2", "CUDA run-time compiler 11", "libnvrtc11.2", "cudatoolkit=11.8",
     "nvidia-cuda-nvrtc-cu11", ""},
    {"libnvrtc.so.12", "CUDA run-time compiler 12", "", "cuda-nvrtc=12", "nvidia-cuda-nvrtc-cu12",
     "cuda-nvrtc-12-*"},
    {"libnvrtc.so.13", "CUDA run-time compiler 13", "", "cuda-nvrtc=13", "nvidia-cuda-nvrtc",
     "cuda-nvrtc-13-*"},
    {"libnvrtc-builtins.so", "parts of the CUDA run-time compiler (of the exact minor version)", "",
     "cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", ""},
    {"libnvJitLink.so.12", "CUDA linker 12", "", "libnvjitlink=12", "nvidia-nvjitlink-cu12",
     "libnvjitlink-12-*"},
    {"libnvJitLink.so.13", "CUDA linker 13", "", "libnvjitlink=13", "nvidia-nvjitlink", "libnvjitlink-13-*"},
    {"libcupti.so", "CUDA profiling interface", "", "cuda-cupti", "nvidia-cuda-cupti-cu12", ""},
    {"libnvToolsExt.so.1", "NVIDIA tools extension", "libnvtoolsext1", "", "nvidia-nvtx-cu12", ""},
    {"libnccl.so.2", "NVIDIA collective communication", "libnccl2", "nccl", "nvidia-nccl-cu12", ""},
    {"libcudnn.so.7", "cuDNN 7", "", "cudnn=7", "", "cuDNN 7 for CUDA 10"},
    {"libcudnn.so.8", "cuDNN 8", "", "cudnn=8", "nvidia-cudnn-cu11 or -cu12, version 8", "libcudnn8"},
    {"libcudnn.so.9", "cuDNN 9", "", "cudnn=9", "nvidia-cudnn-cu12 or -cu13", "libcudnn9-cuda-12 or -13"},
    {"libcudnn_", "part of cuDNN", "", "cudnn", "nvidia-cudnn-cu12 or -cu13", "libcudnn8 or libcudnn9"},
    {"libnvinfer.so", "TensorRT", "", "", "tensorrt", "libnvinfer"},
    {"libgomp.so.1", "GNU OpenMP runtime", "libgomp1", "libgomp", "", ""},
    {"libomp.so.5", "LLVM OpenMP runtime", "libomp5-14", "llvm-openmp", "", ""},
    {"libiomp5.so", "Intel OpenMP runtime", "libomp5-14", "intel-openmp", "intel-openmp", ""},
    {"libmkl_", "Intel MKL", "libmkl-rt", "mkl", "mkl", ""},
    {"libtbb.so.12", "Threading Building Blocks", "libtbb12", "tbb", "tbb", ""},
    {"libtbb.so.2", "Threading Building Blocks 2020", "libtbb2", "tbb=2020", "", ""},
    {"libstdc++.so.6", "GNU C++ runtime", "libstdc++6", "libstdcxx-ng", "", ""},
    {"libgcc_s.so.1", "GNU compiler runtime", "libgcc-s1", "libgcc-ng", "", ""},
    {"libgfortran.so.5", "GNU Fortran runtime", "libgfortran5", "libgfortran5", "", ""},
    {"libgfortran.so.3", "GNU Fortran runtime of gcc 4 to 6", "", "libgfortran=3", "", ""},
    {"libquadmath.so.0", "GNU quad-precision runtime", "libquadmath0", "libgfortran5", "", ""},
    {"libatomic.so.1", "GNU atomic operations", "libatomic1", "libgcc-ng", "", ""},
    {"libopenblas.so.0", "OpenBLAS", "libopenblas0", "libopenblas", "", ""},
    {"libblas.so.3", "BLAS", "libblas3", "libblas", "", ""},
    {"liblapack.so.3", "LAPACK", "liblapack3", "liblapack", "", ""},
    {"libz.so.1", "zlib", "zlib1g", "zlib", "", ""},
    {"libbz2.so.1.0", "bzip2", "libbz2-1.0", "bzip2", "", ""},
    {"liblzma.so.5", "xz", "liblzma5", "xz", "", ""},
    {"libzstd.so.1", "zstd", "libzstd1", "zstd", "", ""},
    {"libssl.so.3", "OpenSSL 3", "libssl3", "openssl", "", ""},
    {"libcrypto.so.3", "OpenSSL 3", "libssl3", "openssl", "", ""},
    {"libssl.so.1.1", "OpenSSL 1.1", "libssl1.1 (Debian 11)", "openssl=1.1", "", ""},
    {"libcrypto.so.1.1", "OpenSSL 1.1", "libssl1.1 (Debian 11)", "openssl=1.1", "", ""},
    {"libnuma.so.1", "NUMA library", "libnuma1", "numactl", "", ""},
    {"libX11.so.6", "X11 client library", "libx11-6", "xorg-libx11", "", ""},
    {"libXext.so.6", "X11 extensions", "libxext6", "xorg-libxext", "", ""},
    {"libGL.so.1", "OpenGL", "libgl1", "libgl", "", ""},
    {"libglib-2.0.so.0", "GLib", "libglib2.0-0", "glib", "", ""},
    {"libOpenCL.so.1", "OpenCL loader", "ocl-icd-libopencl1", "ocl-icd", "", ""},
    {"libvulkan.so.1", "Vulkan loader", "libvulkan1", "libvulkan-loader", "", ""},
    {"libamdhip64.so", "AMD HIP runtime", "libamdhip64-5", "", "", "ROCm: hip-runtime-amd"},
    {"libhsa-runtime64.so.1", "AMD HSA runtime", "libhsa-runtime64-1", "", "", "ROCm: hsa-rocr"},
    {"librocblas.so", "AMD BLAS", "librocblas0", "", "", "ROCm: rocblas"},
    {"libMIOpen.so.1", "AMD MIOpen", "libmiopen1", "", "", "ROCm: miopen-hip"},
    {"libmpi.so.40", "Open MPI", "libopenmpi3", "openmpi", "", ""},
    {"libpython3", "Python", "libpython3.11", "python", "", ""},
    // DLLs, in lower case; a name without ".dll" is a beginning.
    {"msvcp140", "Microsoft's C++ runtime", "", "vc14_runtime", "",
     "Microsoft Visual C++ Redistributable 2015-2022"},
    {"vcruntime140", "Microsoft's C runtime", "", "vc14_runtime", "",
     "Microsoft Visual C++ Redistributable 2015-2022"},
    {"concrt140", "Microsoft's C++ runtime", "", "vc14_runtime", "",
     "Microsoft Visual C++ Redistributable 2015-2022"},
    {"vcomp140", "Microsoft's OpenMP runtime", "", "vc14_runtime", "",
     "Microsoft Visual C++ Redistributable 2015-2022"},
    {"libomp140.", "LLVM's OpenMP runtime for Visual C++", "", "", "", "Microsoft Visual Studio Build Tools"},
    {"nvcuda.dll", "NVIDIA driver", "", "", "", "the NVIDIA driver for this GPU", true},
    {"nvml.dll", "NVIDIA driver (management)", "", "", "", "the NVIDIA driver", true},
    {"vulkan-1.dll", "Vulkan loader", "", "", "", "the graphics driver"},
    {"cudart64_110.dll", "CUDA runtime 11", "", "cudatoolkit=11.8", "nvidia-cuda-runtime-cu11", ""},
    {"cudart64_12.dll", "CUDA runtime 12", "", "cuda-cudart=12", "nvidia-cuda-runtime-cu12", ""},
    {"cudart64_13.dll", "CUDA runtime 13", "", "cuda-cudart=13", "nvidia-cuda-runtime", ""},
    {"cublas64_11.dll", "CUDA BLAS 11", "", "cudatoolkit=11.8", "nvidia-cublas-cu11", ""},
    {"cublas64_12.dll", "CUDA BLAS 12", "", "libcublas=12", "nvidia-cublas-cu12", ""},
    {"cublas64_13.dll", "CUDA BLAS 13", "", "libcublas=13", "nvidia-cublas", ""},
    {"cublaslt64_11.dll", "CUDA BLAS 11", "", "cudatoolkit=11.8", "nvidia-cublas-cu11", ""},
    {"cublaslt64_12.dll", "CUDA BLAS 12", "", "libcublas=12", "nvidia-cublas-cu12", ""},
    {"cublaslt64_13.dll", "CUDA BLAS 13", "", "libcublas=13", "nvidia-cublas", ""},
    {"cudnn64_8.dll", "cuDNN 8", "", "cudnn=8", "nvidia-cudnn-cu11 or -cu12, version 8", ""},
    {"cudnn64_9.dll", "cuDNN 9", "", "cudnn=9", "nvidia-cudnn-cu12 or -cu13", ""},
    {"cudnn_", "part of cuDNN", "", "cudnn", "nvidia-cudnn-cu12 or -cu13", ""},
    {"zlibwapi.dll", "zlib as cuDNN 8 wants it", "", "", "", "the cuDNN 8 installation guide"},
    {"libc.musl-x86_64.so.1", "the C library of Alpine Linux", "", "", "", "a build for glibc instead"},
};

bool fits(std::string_view library, std::string_view row) {
  if (library == row) return true;
  if (!library.starts_with(row)) return false;
  // "libcudart.so.12" also stands for "libcudart.so.12.4.127", a stem for all that follows.
  return row.ends_with(".so") || row.find(".so") == std::string_view::npos || library[row.size()] == '.';
}

}  // namespace

std::optional<Provider> provider_of(std::string_view library) {
  library.remove_prefix(library.find_last_of("/\\") + 1);
  const std::string lower = to_lower(library);
  if (lower.ends_with(".dll")) library = lower;
  for (const Row& row : rows)
    if (fits(library, row.file))
      return Provider{std::string(row.what),          std::string(row.debian), std::string(row.conda),
                      std::string(row.package_index), std::string(row.vendor), row.driver};
  return std::nullopt;
}

std::string provider_text(std::string_view library) {
  const auto provider = provider_of(library);
  if (!provider) return {};
  std::string text = provider->what;
  const char* separator = ": ";
  const auto add = [&](std::string_view where, const std::string& name) {
    if (name.empty()) return;
    text += separator;
    text += where;
    text += name;
    separator = ", ";
  };
  add("Debian package ", provider->debian);
  add("conda package ", provider->conda);
  add("package index ", provider->package_index);
  add("vendor: ", provider->vendor);
  return text;
}

}  // namespace enginehost::explain
