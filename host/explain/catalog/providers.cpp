// Well-known libraries and their packages.
//
// SONAMEs of CUDA do not follow its version: libcufft.so.11 belongs to CUDA 12, libcudart.so.11.0 to all of
// 11.x. NVIDIA's wheels of CUDA 11 and 12 end in -cu11 and -cu12; those of CUDA 13 have no ending. Debian
// names are those of Debian 12, and for CUDA 11 of Ubuntu 22.04. NVIDIA's own packages contain the toolkit's
// version
// ("-12-*": 12-4, 12-8, …).
#include "host/explain/providers.hpp"

#include "base/text.hpp"

namespace enginehost::explain {
namespace {

using Text = std::string_view;

// Installed with the NVIDIA driver; no package of libraries may be named.
constexpr Provider of_driver(Text file, Text what, Text debian = {}) {
  return {.file = file, .what = what, .debian = debian, .other = "the NVIDIA driver for this GPU"};
}
constexpr Provider dll(Text file, Text what, Text package_index, Text other) {
  return {.file = file, .what = what, .package_index = package_index, .other = other};
}
constexpr Provider elsewhere(Text file, Text what, Text other) {
  return {.file = file, .what = what, .other = other};
}
constexpr Provider in_debian(Text file, Text what, Text debian, Text conda) {
  return {.file = file, .what = what, .conda = conda, .debian = debian};
}
constexpr Provider also_fedora(Text file, Text what, Text debian, Text conda = {}, Text package_index = {}) {
  return {.file = file,
          .what = what,
          .conda = conda,
          .package_index = package_index,
          .debian = debian,
          .fedora = true};
}

// FFmpeg's libraries change their numbers with each of its major releases, and another release's cannot stand
// in. Sources: FFmpeg's own listing of its libraries ("ffmpeg -version" of 4.4, 6.1, 7.1 and 8.1), and Debian
// 12's packages of 5.1 (apt-cache, 2026-11-28). conda-forge's list of files has ffmpeg 4.2.3, 6.1, 7.0
// and 8.0 for linux-64 (2026-11-28); its packages were built for 5 in 2022
// (conda-forge/conda-forge-pinning-feedstock#3563). Anaconda's own channel has 4.2 and 6.1 alone.
constexpr Provider ffmpeg(Text file, Text release, Text conda, Text debian = {}) {
  return {.file = file, .what = release, .conda = conda, .debian = debian, .conda_forge = true};
}
// Looked up in the package index on 2026-11-28: tensorrt 8.6.1, 10.16.1.11, 11.4.0.106; and the files of the
// wheels tensorrt-lean-cu12-libs and tensorrt-dispatch-cu12-libs 10.16.1.11 and 11.4.0.106. The number in the
// SONAME is TensorRT's major version.
constexpr Text lean_10 = "\"tensorrt-lean-cu12-libs==10.*\" or \"tensorrt-lean-cu13-libs==10.*\"",
               lean_11 = "\"tensorrt-lean-cu12-libs==11.*\" or \"tensorrt-lean-cu13-libs==11.*\"",
               dispatch_10 = "\"tensorrt-dispatch-cu12-libs==10.*\" or \"tensorrt-dispatch-cu13-libs==10.*\"",
               dispatch_11 = "\"tensorrt-dispatch-cu12-libs==11.*\" or \"tensorrt-dispatch-cu13-libs==11.*\"";
constexpr Provider tensorrt(Text file, Text release, Text package_index) {
  return {.file = file, .what = release, .package_index = package_index};
}
// Microsoft's page with the newest version for each processor.
constexpr Text visual_cxx =
    "Visual C++ Redistributable for Visual Studio 2015-2022, "
    "https://learn.microsoft.com/cpp/windows/latest-supported-vc-redist";

// A longer name comes before a name that is its beginning. The columns are those of Provider: file, what,
// conda, package index, NVIDIA's repositories, Debian, other.
constexpr Provider libraries[] = {
    // The NVIDIA driver
    of_driver("libcuda.so.1", "NVIDIA driver", "nvidia-driver"),
    of_driver("libnvidia-ml.so.1", "NVIDIA driver (management)", "nvidia-driver"),
    of_driver("libnvidia-ptxjitcompiler.so.1", "NVIDIA driver (compiler)", "nvidia-driver"),
    of_driver("libnvidia-nvvm.so.4", "NVIDIA driver (compiler)", "nvidia-driver"),
    of_driver("nvcuda.dll", "NVIDIA driver"),
    of_driver("nvml.dll", "NVIDIA driver (management)"),
    // CUDA
    {"libcudart.so.10.2", "CUDA runtime 10.2", "cudatoolkit=10.2", "", "", "", "CUDA toolkit 10.2"},
    {"libcudart.so.11.0", "CUDA runtime 11", "cudatoolkit=11.8", "nvidia-cuda-runtime-cu11",
     "cuda-cudart-11-8", "libcudart11.0"},
    {"libcudart.so.12", "CUDA runtime 12", "cuda-cudart=12", "nvidia-cuda-runtime-cu12", "cuda-cudart-12-*"},
    {"libcudart.so.13", "CUDA runtime 13", "cuda-cudart=13", "nvidia-cuda-runtime", "cuda-cudart-13-*"},
    {"libcublasLt.so.10", "CUDA BLAS of CUDA 10.2", "cudatoolkit=10.2", "", "", "", "CUDA toolkit 10.2"},
    {"libcublasLt.so.11", "CUDA BLAS 11", "cudatoolkit=11.8", "nvidia-cublas-cu11", "libcublas-11-8",
     "libcublaslt11"},
    {"libcublasLt.so.12", "CUDA BLAS 12", "libcublas=12", "nvidia-cublas-cu12", "libcublas-12-*"},
    {"libcublasLt.so.13", "CUDA BLAS 13", "libcublas=13", "nvidia-cublas", "libcublas-13-*"},
    {"libcublas.so.10", "CUDA BLAS of CUDA 10.2", "cudatoolkit=10.2", "", "", "", "CUDA toolkit 10.2"},
    {"libcublas.so.11", "CUDA BLAS 11", "cudatoolkit=11.8", "nvidia-cublas-cu11", "libcublas-11-8",
     "libcublas11"},
    {"libcublas.so.12", "CUDA BLAS 12", "libcublas=12", "nvidia-cublas-cu12", "libcublas-12-*"},
    {"libcublas.so.13", "CUDA BLAS 13", "libcublas=13", "nvidia-cublas", "libcublas-13-*"},
    {"libcufft.so.10", "CUDA FFT of CUDA 10.2 and 11", "cudatoolkit=11.8 or (10.2) cudatoolkit=10.2",
     "nvidia-cufft-cu11", "libcufft-11-8", "libcufft10"},
    {"libcufft.so.11", "CUDA FFT of CUDA 12", "libcufft=11", "nvidia-cufft-cu12", "libcufft-12-*"},
    {"libcufft.so.12", "CUDA FFT of CUDA 13", "libcufft=12", "nvidia-cufft", "libcufft-13-*"},
    {"libcufftw.so.10", "CUDA FFT with FFTW's interface, of CUDA 11", "cudatoolkit=11.8", "nvidia-cufft-cu11",
     "libcufft-11-8"},
    {"libcufftw.so.11", "CUDA FFT with FFTW's interface, of CUDA 12", "libcufft=11", "nvidia-cufft-cu12",
     "libcufft-12-*"},
    {"libcufftw.so.12", "CUDA FFT with FFTW's interface, of CUDA 13", "libcufft=12", "nvidia-cufft",
     "libcufft-13-*"},
    {"libcurand.so.10", "CUDA random numbers of CUDA 10.2, 11, 12 and 13", "libcurand",
     "nvidia-curand-cu11, nvidia-curand-cu12 or (13) nvidia-curand", "libcurand-12-* or -13-*",
     "libcurand10"},
    {"libcusolver.so.10", "CUDA solver of CUDA 10.2 and 11.0", "cudatoolkit=10.2 or (11.0) cudatoolkit=11.0",
     "", "", "", "CUDA toolkit 10.2 or 11.0"},
    {"libcusolver.so.11", "CUDA solver of CUDA 11 and 12", "libcusolver=11",
     "nvidia-cusolver-cu11 or nvidia-cusolver-cu12", "libcusolver-12-*", "libcusolver11"},
    {"libcusolver.so.12", "CUDA solver of CUDA 13", "libcusolver=12", "nvidia-cusolver", "libcusolver-13-*"},
    {"libcusparse.so.10", "CUDA sparse of CUDA 10.2", "cudatoolkit=10.2", "", "", "", "CUDA toolkit 10.2"},
    {"libcusparse.so.11", "CUDA sparse of CUDA 11", "cudatoolkit=11.8", "nvidia-cusparse-cu11", "",
     "libcusparse11"},
    {"libcusparse.so.12", "CUDA sparse of CUDA 12 and 13", "libcusparse=12",
     "nvidia-cusparse-cu12 or (13) nvidia-cusparse", "libcusparse-12-* or -13-*"},
    {"libcusparseLt.so.0", "CUDA structured sparse", "", "nvidia-cusparselt-cu12 or nvidia-cusparselt-cu13"},
    {"libnvrtc-builtins.so.11", "parts of the CUDA run-time compiler 11 (of the exact minor version)", "",
     "nvidia-cuda-nvrtc-cu11"},
    {"libnvrtc-builtins.so.12", "parts of the CUDA run-time compiler 12 (of the exact minor version)",
     "cuda-nvrtc=12", "nvidia-cuda-nvrtc-cu12"},
    {"libnvrtc-builtins.so.13", "parts of the CUDA run-time compiler 13 (of the exact minor version)",
     "cuda-nvrtc=13", "nvidia-cuda-nvrtc"},
    {"libnvrtc-builtins.so", "parts of the CUDA run-time compiler (of the exact minor version)", "cuda-nvrtc",
     "nvidia-cuda-nvrtc-cu12 or (13) nvidia-cuda-nvrtc"},
    {"libnvrtc.so.10.2", "CUDA run-time compiler 10.2", "cudatoolkit=10.2", "", "", "", "CUDA toolkit 10.2"},
    {"libnvrtc.so.11.2", "CUDA run-time compiler 11", "cudatoolkit=11.8", "nvidia-cuda-nvrtc-cu11", "",
     "libnvrtc11.2"},
    {"libnvrtc.so.12", "CUDA run-time compiler 12", "cuda-nvrtc=12", "nvidia-cuda-nvrtc-cu12",
     "cuda-nvrtc-12-*"},
    {"libnvrtc.so.13", "CUDA run-time compiler 13", "cuda-nvrtc=13", "nvidia-cuda-nvrtc", "cuda-nvrtc-13-*"},
    elsewhere("libnvvm.so.4", "CUDA compiler library (NVVM)", "CUDA toolkit, in nvvm/lib64"),
    {"libnvJitLink.so.12", "CUDA linker 12", "libnvjitlink=12", "nvidia-nvjitlink-cu12", "libnvjitlink-12-*"},
    {"libnvJitLink.so.13", "CUDA linker 13", "libnvjitlink=13", "nvidia-nvjitlink", "libnvjitlink-13-*"},
    elsewhere("libcupti.so.10.2", "CUDA profiling interface 10.2", "CUDA toolkit 10.2"),
    {"libcupti.so.11", "CUDA profiling interface 11 (of the exact minor version)", "",
     "nvidia-cuda-cupti-cu11"},
    {"libcupti.so.12", "CUDA profiling interface 12", "cuda-cupti=12", "nvidia-cuda-cupti-cu12"},
    {"libcupti.so.13", "CUDA profiling interface 13", "cuda-cupti=13", "nvidia-cuda-cupti"},
    {"libcupti.so", "CUDA profiling interface", "cuda-cupti",
     "nvidia-cuda-cupti-cu12 or (13) nvidia-cuda-cupti"},
    {"libcufile.so.0", "GPU direct storage", "", "nvidia-cufile-cu12 or (13) nvidia-cufile"},
    // Files of the wheels nvidia-npp-cu12 12.4.1.87, nvidia-npp 13.2.0.93, nvidia-nvjpeg-cu12 12.4.0.76 and
    // nvidia-nvjpeg 13.3.2.43, listed on 2026-11-28
    {"libnpp", "CUDA image functions (NPP) of the CUDA version at the name's end", "",
     "nvidia-npp-cu12 or (13) nvidia-npp"},
    {"libnvjpeg.so.12", "CUDA JPEG decoder 12", "", "nvidia-nvjpeg-cu12"},
    {"libnvjpeg.so.13", "CUDA JPEG decoder 13", "", "nvidia-nvjpeg"},
    {"libnvToolsExt.so.1", "NVIDIA tools extension", "", "nvidia-nvtx-cu12", "", "libnvtoolsext1"},
    {"libnccl.so.2", "NVIDIA collective communication", "nccl",
     "nvidia-nccl-cu11, nvidia-nccl-cu12 or nvidia-nccl-cu13", "libnccl2"},
    {"libcudnn.so.7", "cuDNN 7", "cudnn=7", "", "", "", "cuDNN 7 for CUDA 10"},
    {"libcudnn.so.8", "cuDNN 8", "cudnn=8", "\"nvidia-cudnn-cu11<9\" or \"nvidia-cudnn-cu12<9\"",
     "libcudnn8"},
    {"libcudnn.so.9", "cuDNN 9", "cudnn=9", "nvidia-cudnn-cu12 or nvidia-cudnn-cu13",
     "libcudnn9-cuda-12 or libcudnn9-cuda-13"},
    // The parts of cuDNN 8 and 9 have different names: 8 has an _infer and a _train part of each.
    {"libcudnn_ops_infer.so.8", "part of cuDNN 8", "cudnn=8",
     "\"nvidia-cudnn-cu11<9\" or \"nvidia-cudnn-cu12<9\"", "libcudnn8"},
    {"libcudnn_cnn_infer.so.8", "part of cuDNN 8", "cudnn=8",
     "\"nvidia-cudnn-cu11<9\" or \"nvidia-cudnn-cu12<9\"", "libcudnn8"},
    {"libcudnn_adv_infer.so.8", "part of cuDNN 8", "cudnn=8",
     "\"nvidia-cudnn-cu11<9\" or \"nvidia-cudnn-cu12<9\"", "libcudnn8"},
    {"libcudnn_", "part of cuDNN, of the very version of libcudnn itself", "cudnn",
     "nvidia-cudnn-cu12 or nvidia-cudnn-cu13", "libcudnn8, libcudnn9-cuda-12 or libcudnn9-cuda-13"},
    tensorrt("libnvinfer.so.8", "TensorRT 8", "\"tensorrt<9\""),
    tensorrt("libnvinfer.so.10", "TensorRT 10", "\"tensorrt==10.*\""),
    tensorrt("libnvinfer.so.11", "TensorRT 11", "\"tensorrt==11.*\""),
    tensorrt("libnvinfer_plugin.so.8", "TensorRT 8", "\"tensorrt<9\""),
    tensorrt("libnvinfer_plugin.so.10", "TensorRT 10", "\"tensorrt==10.*\""),
    tensorrt("libnvinfer_plugin.so.11", "TensorRT 11", "\"tensorrt==11.*\""),
    tensorrt("libnvonnxparser.so.8", "TensorRT 8", "\"tensorrt<9\""),
    tensorrt("libnvonnxparser.so.10", "TensorRT 10", "\"tensorrt==10.*\""),
    tensorrt("libnvonnxparser.so.11", "TensorRT 11", "\"tensorrt==11.*\""),
    tensorrt("libnvinfer_builder_resource", "part of TensorRT, of the very version of libnvinfer itself",
             "tensorrt"),
    tensorrt("libnvinfer.so", "TensorRT", "tensorrt"),
    tensorrt("libnvinfer_lean.so.10", "TensorRT 10, lean runtime", lean_10),
    tensorrt("libnvinfer_lean.so.11", "TensorRT 11, lean runtime", lean_11),
    tensorrt("libnvinfer_vc_plugin.so.10", "TensorRT 10, plugins of the lean runtime", lean_10),
    tensorrt("libnvinfer_vc_plugin.so.11", "TensorRT 11, plugins of the lean runtime", lean_11),
    tensorrt("libnvinfer_dispatch.so.10", "TensorRT 10, dispatch runtime", dispatch_10),
    tensorrt("libnvinfer_dispatch.so.11", "TensorRT 11, dispatch runtime", dispatch_11),
    tensorrt("nvinfer_lean_10.dll", "TensorRT 10, lean runtime", lean_10),
    tensorrt("nvinfer_lean_11.dll", "TensorRT 11, lean runtime", lean_11),
    tensorrt("nvinfer_dispatch_10.dll", "TensorRT 10, dispatch runtime", dispatch_10),
    // Sources: cyrusbehr/tensorrt-cpp-api#78, NVIDIA/TensorRT#3489, #4159
    tensorrt("nvinfer_builder_resource", "part of TensorRT, of the very version of nvinfer itself",
             "tensorrt"),
    tensorrt("nvinfer_plugin_10.dll", "TensorRT 10", "\"tensorrt==10.*\""),
    tensorrt("nvinfer_10.dll", "TensorRT 10", "\"tensorrt==10.*\""),
    // Files of the wheels cudss 0.8.0.10 and 1.0.0.35, nvshmem 3.8.0, and NVPL's of 2026-05 (for arm64 only),
    // each listed on 2026-11-28
    {"libcudss.so.0", "cuDSS before 1.0", "", "\"nvidia-cudss-cu12<1\" or \"nvidia-cudss-cu13<1\""},
    {"libcudss.so.1", "cuDSS 1", "", "\"nvidia-cudss-cu12>=1\" or \"nvidia-cudss-cu13>=1\""},
    {"libcudss_", "part of cuDSS, of the very version of libcudss itself", "",
     "nvidia-cudss-cu12 or nvidia-cudss-cu13"},
    {"libnvshmem_host.so.3", "NVSHMEM 3", "", "nvidia-nvshmem-cu12 or nvidia-nvshmem-cu13"},
    {"nvshmem_", "part of NVSHMEM, of the very version of libnvshmem_host itself", "",
     "nvidia-nvshmem-cu12 or nvidia-nvshmem-cu13"},
    {"libnvpl_blas_", "NVPL BLAS for arm64", "libnvpl-blas0", "nvpl-blas"},
    {"libnvpl_lapack_", "NVPL LAPACK for arm64", "libnvpl-lapack0", "nvpl-lapack"},
    {"libnvpl_fftw.so.0", "NVPL FFT for arm64", "libnvpl-fft0", "nvpl-fft"},
    {"libnvpl_rand", "NVPL random numbers for arm64", "libnvpl-rand0", "nvpl-rand"},
    {"libnvpl_sparse.so.0", "NVPL sparse for arm64", "libnvpl-sparse0", "nvpl-sparse"},
    {"libnvpl_tensor.so.0", "NVPL tensor for arm64", "libnvpl-tensor0", "nvpl-tensor"},
    {"libnvpl_scalapack_", "NVPL ScaLAPACK for arm64", "libnvpl-scalapack0", "nvpl-scalapack"},
    {"libnvpl_blacs_", "NVPL ScaLAPACK for arm64", "libnvpl-scalapack0", "nvpl-scalapack"},
    // CUDA on Windows: the same wheels
    elsewhere("cudart64_102.dll", "CUDA runtime 10.2", "CUDA toolkit 10.2"),
    dll("cudart64_110.dll", "CUDA runtime 11", "nvidia-cuda-runtime-cu11", "CUDA toolkit 11"),
    dll("cudart64_12.dll", "CUDA runtime 12", "nvidia-cuda-runtime-cu12", "CUDA toolkit 12"),
    dll("cudart64_13.dll", "CUDA runtime 13", "nvidia-cuda-runtime", "CUDA toolkit 13"),
    elsewhere("cublasLt64_10.dll", "CUDA BLAS of CUDA 10.2", "CUDA toolkit 10.2"),
    dll("cublasLt64_11.dll", "CUDA BLAS 11", "nvidia-cublas-cu11", "CUDA toolkit 11"),
    dll("cublasLt64_12.dll", "CUDA BLAS 12", "nvidia-cublas-cu12", "CUDA toolkit 12"),
    dll("cublasLt64_13.dll", "CUDA BLAS 13", "nvidia-cublas", "CUDA toolkit 13"),
    elsewhere("cublas64_10.dll", "CUDA BLAS of CUDA 10.2", "CUDA toolkit 10.2"),
    dll("cublas64_11.dll", "CUDA BLAS 11", "nvidia-cublas-cu11", "CUDA toolkit 11"),
    dll("cublas64_12.dll", "CUDA BLAS 12", "nvidia-cublas-cu12", "CUDA toolkit 12"),
    dll("cublas64_13.dll", "CUDA BLAS 13", "nvidia-cublas", "CUDA toolkit 13"),
    dll("cufft64_10.dll", "CUDA FFT of CUDA 10.2 and 11", "nvidia-cufft-cu11", "CUDA toolkit 10.2 or 11"),
    dll("cufft64_11.dll", "CUDA FFT of CUDA 12", "nvidia-cufft-cu12", "CUDA toolkit 12"),
    dll("cufft64_12.dll", "CUDA FFT of CUDA 13", "nvidia-cufft", "CUDA toolkit 13"),
    dll("cufftw64_10.dll", "CUDA FFT with FFTW's interface, of CUDA 11", "nvidia-cufft-cu11",
        "CUDA toolkit 11"),
    dll("cufftw64_11.dll", "CUDA FFT with FFTW's interface, of CUDA 12", "nvidia-cufft-cu12",
        "CUDA toolkit 12"),
    dll("cufftw64_12.dll", "CUDA FFT with FFTW's interface, of CUDA 13", "nvidia-cufft", "CUDA toolkit 13"),
    dll("curand64_10.dll", "CUDA random numbers of CUDA 10.2, 11, 12 and 13",
        "nvidia-curand-cu11, nvidia-curand-cu12 or (13) nvidia-curand", "CUDA toolkit"),
    elsewhere("cusolver64_10.dll", "CUDA solver of CUDA 10.2 and 11.0", "CUDA toolkit 10.2 or 11.0"),
    dll("cusolver64_11.dll", "CUDA solver of CUDA 11 and 12", "nvidia-cusolver-cu11 or nvidia-cusolver-cu12",
        "CUDA toolkit"),
    dll("cusolver64_12.dll", "CUDA solver of CUDA 13", "nvidia-cusolver", "CUDA toolkit 13"),
    elsewhere("cusparse64_10.dll", "CUDA sparse of CUDA 10.2", "CUDA toolkit 10.2"),
    dll("cusparse64_11.dll", "CUDA sparse of CUDA 11", "nvidia-cusparse-cu11", "CUDA toolkit 11"),
    dll("cusparse64_12.dll", "CUDA sparse of CUDA 12 and 13", "nvidia-cusparse-cu12 or (13) nvidia-cusparse",
        "CUDA toolkit"),
    dll("nvrtc-builtins64_", "parts of the CUDA run-time compiler (of the exact minor version)",
        "nvidia-cuda-nvrtc-cu11, nvidia-cuda-nvrtc-cu12 or (13) nvidia-cuda-nvrtc",
        "CUDA toolkit of that version"),
    elsewhere("nvrtc64_102_0.dll", "CUDA run-time compiler 10.2", "CUDA toolkit 10.2"),
    dll("nvrtc64_112_0.dll", "CUDA run-time compiler 11", "nvidia-cuda-nvrtc-cu11", "CUDA toolkit 11"),
    dll("nvrtc64_120_0.dll", "CUDA run-time compiler 12", "nvidia-cuda-nvrtc-cu12", "CUDA toolkit 12"),
    dll("nvrtc64_130_0.dll", "CUDA run-time compiler 13", "nvidia-cuda-nvrtc", "CUDA toolkit 13"),
    dll("nvJitLink_120_0.dll", "CUDA linker 12", "nvidia-nvjitlink-cu12", "CUDA toolkit 12"),
    dll("nvJitLink_130_0.dll", "CUDA linker 13", "nvidia-nvjitlink", "CUDA toolkit 13"),
    dll("cupti64_", "CUDA profiling interface (its name holds the year of its release)",
        "nvidia-cuda-cupti-cu11, nvidia-cuda-cupti-cu12 or (13) nvidia-cuda-cupti",
        "CUDA toolkit of that version"),
    elsewhere("nvToolsExt64_1.dll", "NVIDIA tools extension", "CUDA toolkit 11 or 12"),
    elsewhere("cudnn64_7.dll", "cuDNN 7", "cuDNN 7 for CUDA 10"),
    dll("cudnn64_8.dll", "cuDNN 8", "\"nvidia-cudnn-cu11<9\" or \"nvidia-cudnn-cu12<9\"",
        "cuDNN 8 for that CUDA"),
    dll("cudnn64_9.dll", "cuDNN 9", "nvidia-cudnn-cu12 or nvidia-cudnn-cu13", "cuDNN 9 for that CUDA"),
    dll("cudnn_", "part of cuDNN, of the very version of cudnn64 itself",
        "nvidia-cudnn-cu12 or nvidia-cudnn-cu13", "cuDNN for that CUDA"),
    {"zlibwapi.dll", "zlib for cuDNN 8", "libzlib-wapi", "", "", "",
     "PyTorch's builds bring it; never take it from a site that offers single DLLs"},
    // OpenMP, BLAS
    also_fedora("libgomp.so.1", "GNU OpenMP runtime", "libgomp1", "libgomp"),
    in_debian("libomp.so.5", "LLVM OpenMP runtime", "libomp5-14", "llvm-openmp"),
    // Homebrew's name: XGBoost's own message (dmlc/xgboost#6909)
    {"libomp.dylib", "LLVM OpenMP runtime", "llvm-openmp", "", "", "", "Homebrew: brew install libomp"},
    {"libiomp5.so", "Intel OpenMP runtime", "intel-openmp", "intel-openmp"},
    {"libiomp5md.dll", "Intel OpenMP runtime", "intel-openmp", "intel-openmp"},
    // Files of the wheels onemkl-sycl-blas 2024.2, 2025.0 and 2026.2, intel-sycl-rt of the same releases,
    // dpcpp-cpp-rt 2024.0, intel-cmplr-lib-rt and intel-cmplr-lib-ur 2026.2, oneccl 2022.2, tbb 2021.13 and
    // Debian 12's libtbbmalloc2, listed on 2026-11-28
    {"libmkl_sycl_blas.so.4", "oneMKL of oneAPI 2024", "", "\"onemkl-sycl-blas==2024.*\""},
    {"libmkl_sycl_blas.so.5", "oneMKL of oneAPI 2025", "", "\"onemkl-sycl-blas==2025.*\""},
    {"libmkl_sycl_blas.so.6", "oneMKL of oneAPI 2026", "", "\"onemkl-sycl-blas==2026.*\""},
    {"libsycl.so.7", "SYCL runtime of oneAPI 2024", "", "\"intel-sycl-rt==2024.*\""},
    {"libsycl.so.8", "SYCL runtime of oneAPI 2025", "", "\"intel-sycl-rt==2025.*\""},
    {"libsycl.so.9", "SYCL runtime of oneAPI 2026", "", "\"intel-sycl-rt==2026.*\""},
    {"libpi_level_zero.so", "part of the SYCL runtime of oneAPI 2024.0", "", "\"dpcpp-cpp-rt==2024.0.*\""},
    {"libur_loader.so.0", "part of the SYCL runtime, of the release of libsycl", "", "intel-cmplr-lib-ur"},
    {"libimf.so", "Intel compiler runtime", "", "intel-cmplr-lib-rt"},
    {"libsvml.so", "Intel compiler runtime", "", "intel-cmplr-lib-rt"},
    {"libirng.so", "Intel compiler runtime", "", "intel-cmplr-lib-rt"},
    {"libirc.so", "Intel compiler runtime", "", "intel-cmplr-lib-rt"},
    {"libintlc.so.5", "Intel compiler runtime", "", "intel-cmplr-lib-rt"},
    {"libccl.so", "oneCCL", "", "oneccl"},
    {"libmkl_def.", "part of Intel MKL, of the very version of libmkl_core itself", "mkl", "mkl"},
    {"libmkl_avx", "part of Intel MKL, of the very version of libmkl_core itself", "mkl", "mkl"},
    {"libmkl_mc", "part of Intel MKL, of the very version of libmkl_core itself", "mkl", "mkl"},
    {"libmkl_vml_", "part of Intel MKL, of the very version of libmkl_core itself", "mkl", "mkl"},
    {"libmkl_", "Intel MKL", "mkl", "mkl"},
    {"mkl_", "Intel MKL", "mkl", "mkl"},
    also_fedora("libtbb.so.12", "Threading Building Blocks", "libtbb12", "tbb", "tbb"),
    also_fedora("libtbbmalloc.so.2", "Threading Building Blocks, allocator", "libtbbmalloc2", "tbb", "tbb"),
    in_debian("libtbb.so.2", "Threading Building Blocks 2020", "libtbb2", "tbb=2020"),
    {"tbb12.dll", "Threading Building Blocks", "tbb", "tbb"},
    also_fedora("libopenblas.so.0", "OpenBLAS", "libopenblas0", "libopenblas"),
    also_fedora("libblas.so.3", "BLAS", "libblas3", "libblas"),
    also_fedora("liblapack.so.3", "LAPACK", "liblapack3", "liblapack"),
    // Compilers' runtimes
    also_fedora("libstdc++.so.6", "GNU C++ runtime", "libstdc++6", "libstdcxx-ng"),
    also_fedora("libgcc_s.so.1", "GNU compiler runtime", "libgcc-s1", "libgcc-ng"),
    also_fedora("libgfortran.so.5", "GNU Fortran runtime", "libgfortran5", "libgfortran5"),
    {"libgfortran.so.3", "GNU Fortran runtime of gcc 4 to 6", "libgfortran=3"},
    also_fedora("libquadmath.so.0", "GNU quad-precision runtime", "libquadmath0", "libgfortran5"),
    also_fedora("libatomic.so.1", "GNU atomic operations", "libatomic1", "libgcc-ng"),
    dll("msvcp140", "Visual C++ runtime", "msvc-runtime", visual_cxx),
    dll("vcruntime140", "Visual C++ runtime", "msvc-runtime", visual_cxx),
    dll("concrt140.dll", "Visual C++ runtime", "msvc-runtime", visual_cxx),
    // PyTorch 2.4.0 needed it (openvinotoolkit/openvino.genai#813, kohya-ss/sd-scripts#1597)
    elsewhere(
        "libomp140.x86_64.dll", "LLVM OpenMP runtime of Visual C++",
        "PyTorch 2.4.1 or newer, which does not need it; or Visual Studio's build tools MSVC v143; never "
        "take it from a site that offers single DLLs"),
    dll("vcomp140.dll", "Visual C++ OpenMP runtime", "msvc-runtime", visual_cxx),
    elsewhere("ucrtbase.dll", "universal C runtime", "a part of Windows 10 and newer"),
    elsewhere("api-ms-win-crt-", "universal C runtime", "a part of Windows 10 and newer"),
    // Systems' libraries
    also_fedora("libz.so.1", "zlib", "zlib1g", "zlib"),
    in_debian("libbz2.so.1.0", "bzip2", "libbz2-1.0", "bzip2"),
    // Older numbers that other systems still have; apt-cache of Debian 12, 2026-11-28
    in_debian("libtinfo.so.5", "ncurses 5 (terminals)", "libtinfo5", "ncurses=5"),
    in_debian("libncurses.so.5", "ncurses 5 (terminals)", "libncurses5", "ncurses=5"),
    in_debian("libncursesw.so.5", "ncurses 5 (terminals)", "libncursesw5", "ncurses=5"),
    in_debian("librdmacm.so.1", "RDMA connections", "librdmacm1", "rdma-core"),
    also_fedora("liblzma.so.5", "xz", "liblzma5", "xz"),
    also_fedora("libzstd.so.1", "zstd", "libzstd1", "zstd"),
    also_fedora("libffi.so.8", "libffi", "libffi8"),
    also_fedora("libssl.so.3", "OpenSSL 3", "libssl3", "openssl"),
    also_fedora("libcrypto.so.3", "OpenSSL 3", "libssl3", "openssl"),
    in_debian("libssl.so.1.1", "OpenSSL 1.1", "libssl1.1 (Debian 11)", "openssl=1.1"),
    in_debian("libcrypto.so.1.1", "OpenSSL 1.1", "libssl1.1 (Debian 11)", "openssl=1.1"),
    also_fedora("libnuma.so.1", "NUMA library", "libnuma1", "numactl"),
    also_fedora("libhwloc.so.15", "hardware locality library", "libhwloc15"),
    also_fedora("libX11.so.6", "X11 client library", "libx11-6", "xorg-libx11"),
    also_fedora("libXext.so.6", "X11 extensions", "libxext6", "xorg-libxext"),
    also_fedora("libGL.so.1", "OpenGL", "libgl1", "libgl"),
    also_fedora("libglib-2.0.so.0", "GLib", "libglib2.0-0", "glib"),
    also_fedora("libOpenCL.so.1", "OpenCL loader", "ocl-icd-libopencl1", "ocl-icd"),
    also_fedora("libvulkan.so.1", "Vulkan loader", "libvulkan1", "libvulkan-loader"),
    in_debian("libmpi.so.40", "Open MPI", "libopenmpi3", "openmpi"),
    in_debian("libpython3.11.so.1.0", "Python 3.11", "libpython3.11", "python=3.11"),
    {"libpython3", "Python of that version", "python"},
    // FFmpeg 4 to 8
    ffmpeg("libavutil.so.56", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libavutil.so.57", "FFmpeg 5", "ffmpeg=5", "libavutil57"),
    ffmpeg("libavutil.so.58", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libavutil.so.59", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libavutil.so.60", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libavcodec.so.58", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libavcodec.so.59", "FFmpeg 5", "ffmpeg=5", "libavcodec59"),
    ffmpeg("libavcodec.so.60", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libavcodec.so.61", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libavcodec.so.62", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libavformat.so.58", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libavformat.so.59", "FFmpeg 5", "ffmpeg=5", "libavformat59"),
    ffmpeg("libavformat.so.60", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libavformat.so.61", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libavformat.so.62", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libavdevice.so.58", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libavdevice.so.59", "FFmpeg 5", "ffmpeg=5", "libavdevice59"),
    ffmpeg("libavdevice.so.60", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libavdevice.so.61", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libavdevice.so.62", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libavfilter.so.7", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libavfilter.so.8", "FFmpeg 5", "ffmpeg=5", "libavfilter8"),
    ffmpeg("libavfilter.so.9", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libavfilter.so.10", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libavfilter.so.11", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libswscale.so.5", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libswscale.so.6", "FFmpeg 5", "ffmpeg=5", "libswscale6"),
    ffmpeg("libswscale.so.7", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libswscale.so.8", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libswscale.so.9", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libswresample.so.3", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libswresample.so.4", "FFmpeg 5 and 6", "ffmpeg=5 or (6) ffmpeg=6", "libswresample4"),
    ffmpeg("libswresample.so.5", "FFmpeg 7", "ffmpeg=7"),
    ffmpeg("libswresample.so.6", "FFmpeg 8", "ffmpeg=8"),
    ffmpeg("libpostproc.so.55", "FFmpeg 4", "ffmpeg=4"),
    ffmpeg("libpostproc.so.56", "FFmpeg 5", "ffmpeg=5", "libpostproc56"),
    ffmpeg("libpostproc.so.57", "FFmpeg 6", "ffmpeg=6"),
    ffmpeg("libpostproc.so.58", "FFmpeg 7", "ffmpeg=7"),
    // Intel; the files of Debian 12's libze1 1.8.12 (2026-11-28)
    in_debian("libze_loader.so.1", "Level Zero loader", "libze1", "level-zero"),
    in_debian("libze_tracing_layer.so.1", "Level Zero loader", "libze1", "level-zero"),
    in_debian("libze_validation_layer.so.1", "Level Zero loader", "libze1", "level-zero"),
    // AMD: the number is ROCm's major version; Debian 12's libamdhip64-5 5.2.3 has .so.5 alone (2026-11-28)
    {"libamdhip64.so.5", "AMD HIP runtime of ROCm 5", "", "", "", "libamdhip64-5",
     "hip-runtime-amd of AMD's ROCm 5"},
    elsewhere("libamdhip64.so.6", "AMD HIP runtime of ROCm 6", "hip-runtime-amd of AMD's ROCm 6"),
    elsewhere("libamdhip64.so.7", "AMD HIP runtime of ROCm 7", "hip-runtime-amd of AMD's ROCm 7"),
    elsewhere("libamdhip64.so", "AMD HIP runtime", "ROCm: hip-runtime-amd"),
    // Sources: ROCm/legacy-rocm-build#3418, vosen/ZLUDA#326, ROCm/onnxruntime#209
    elsewhere("amdhip64_6.dll", "AMD HIP runtime of ROCm 6", "the AMD driver for this GPU, or HIP SDK 6"),
    elsewhere("amdhip64_7.dll", "AMD HIP runtime of ROCm 7", "the AMD driver for this GPU, or HIP SDK 7"),
    elsewhere("amdhip64.dll", "AMD HIP runtime of ROCm 5", "the AMD driver for this GPU"),
    {"libhsa-runtime64.so.1", "AMD HSA runtime", "", "", "", "libhsa-runtime64-1", "ROCm: hsa-rocr"},
    elsewhere("librocblas.so", "AMD BLAS", "ROCm: rocblas"),
    elsewhere("libMIOpen.so.1", "AMD MIOpen", "ROCm: miopen-hip"),
    elsewhere("libc.musl-", "the C library of Alpine Linux", "a build for glibc instead"),
};

bool is_windows_name(std::string_view name) { return name.ends_with(".dll"); }

bool fits(std::string_view library, std::string_view file) {
  if (library == file) return true;
  if (!library.starts_with(file)) return false;
  // "libcudart.so.12" also matches "libcudart.so.12.4.127"; a beginning matches every name that continues it.
  return file.ends_with(".so") || file.find(".so") == std::string_view::npos || library[file.size()] == '.';
}

}  // namespace

std::span<const Provider> all_providers() { return libraries; }

const Provider* provider_of(std::string_view library) {
  library.remove_prefix(library.find_last_of("/\\") + 1);
  // Names of DLLs are not case-sensitive.
  const std::string lower = to_lower(library);
  for (const Provider& row : libraries) {
    if (is_windows_name(lower) ? fits(lower, to_lower(row.file)) : fits(library, row.file)) return &row;
  }
  return nullptr;
}

std::string provider_text(std::string_view library) {
  const Provider* provider = provider_of(library);
  if (provider == nullptr) return {};
  library.remove_prefix(library.find_last_of("/\\") + 1);
  std::string text(provider->what);
  const char* separator = ": ";
  const auto add = [&](std::string_view where, std::string_view name) {
    if (name.empty()) return;
    text += separator;
    text += where;
    text += name;
    separator = ", ";
  };
  add("Debian package ", provider->debian);
  // A Fedora package provides each of its libraries by name; "()(64bit)" marks 64-bit ones. Names for Fedora
  // and most of conda's were not compared with the packages themselves.
  if (provider->fedora) add("probably Fedora: dnf install ", "'" + std::string(library) + "()(64bit)'");
  add(provider->conda_forge ? "conda-forge's package " : "probably conda package ", provider->conda);
  add("package index ", provider->package_index);
  add("NVIDIA's package ", provider->nvidia);
  add("", provider->other);
  return text;
}

}  // namespace enginehost::explain
