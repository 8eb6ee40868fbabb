#include "host/explain/providers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "host/explain/explain.hpp"

namespace enginehost::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Providers, EachLibraryIsListedOnceWithItsSource) {
  std::set<std::string_view> seen;
  for (const Provider& row : all_providers()) {
    EXPECT_TRUE(seen.insert(row.file).second) << row.file << " is there twice";
    EXPECT_FALSE(row.what.empty()) << row.file;
    const bool somewhere = !row.debian.empty() || !row.conda.empty() || !row.package_index.empty() ||
                           !row.nvidia.empty() || !row.other.empty() || row.fedora;
    EXPECT_TRUE(somewhere) << row.file;
    EXPECT_EQ(provider_of(row.file), &row) << row.file << " is hidden by a row before it";
  }
}

TEST(Providers, DriverLibrariesAreNotOfferedAsPackages) {
  for (const char* library : {"libcuda.so.1", "libnvidia-ml.so.1", "nvcuda.dll"}) {
    const Provider* provider = provider_of(library);
    ASSERT_NE(provider, nullptr) << library;
    EXPECT_THAT(std::string(provider->other), HasSubstr("driver")) << library;
    EXPECT_TRUE(provider->package_index.empty()) << library;
    EXPECT_TRUE(provider->conda.empty()) << library;
    EXPECT_TRUE(provider->nvidia.empty()) << library;
  }
}

struct Case {
  const char *library, *part;
};

TEST(Providers, ALibraryOfCudaIsNamedWithItsCudaVersion) {
  constexpr Case cases[] = {
      {"libcudart.so.11.0", "nvidia-cuda-runtime-cu11"},
      {"libcudart.so.12", "nvidia-cuda-runtime-cu12"},
      {"/a/b/libcudart.so.12.4.127", "nvidia-cuda-runtime-cu12"},
      {"libcudart.so.13", "package index nvidia-cuda-runtime,"},
      {"libcufft.so.10", "CUDA 10.2 and 11"},
      {"libcufft.so.11", "CUDA 12"},
      {"libcufft.so.12", "CUDA 13"},
      {"libnvrtc-builtins.so.11.8", "nvidia-cuda-nvrtc-cu11"},
      {"libnvrtc-builtins.so.13.0", "package index nvidia-cuda-nvrtc"},
      {"libcudnn_ops_infer.so.8", "cuDNN 8"},
      {"libcudnn_graph.so.9", "nvidia-cudnn-cu13"},
      {"cudart64_110.dll", "nvidia-cuda-runtime-cu11"},
      {"CUBLAS64_13.DLL", "package index nvidia-cublas,"},
      {"libnccl.so.2", "nvidia-nccl-cu12"},
  };
  for (const Case& one : cases) EXPECT_THAT(provider_text(one.library), HasSubstr(one.part)) << one.library;
}

// The names of CUDA's libraries by major version, on Linux and Windows. Sources: NVIDIA's redistributable
// manifests for 11 to 13, with PyTorch's own build scripts (manywheel, windows) for the files they copy; for
// 10.2 the toolkit's documents. A CUPTI for Windows has the year of its release in its name.
TEST(Providers, EveryLibraryOfEachCudaIsKnown) {
  struct Names {
    const char *part, *libraries[32];
  };
  constexpr Names cudas[] = {
      {"10.2",
       {"libcudart.so.10.2", "libcublas.so.10", "libcublasLt.so.10", "libcufft.so.10", "libcurand.so.10",
        "libcusolver.so.10", "libcusparse.so.10", "libnvrtc.so.10.2", "libcupti.so.10.2", "cudart64_102.dll",
        "cublas64_10.dll", "cublasLt64_10.dll", "cufft64_10.dll", "curand64_10.dll", "cusolver64_10.dll",
        "cusparse64_10.dll", "nvrtc64_102_0.dll"}},
      {"11",
       {"libcudart.so.11.0",        "libcublas.so.11",           "libcublasLt.so.11",   "libcufft.so.10",
        "libcufftw.so.10",          "libcurand.so.10",           "libcusolver.so.11",   "libcusparse.so.11",
        "libnvrtc.so.11.2",         "libnvrtc-builtins.so.11.8", "libcupti.so.11.8",    "cudart64_110.dll",
        "cublas64_11.dll",          "cublasLt64_11.dll",         "cufft64_10.dll",      "cufftw64_10.dll",
        "curand64_10.dll",          "cusolver64_11.dll",         "cusparse64_11.dll",   "nvrtc64_112_0.dll",
        "nvrtc-builtins64_118.dll", "nvToolsExt64_1.dll",        "cupti64_2022.3.0.dll"}},
      {"12", {"libcudart.so.12",   "libcublas.so.12",           "libcublasLt.so.12",   "libcufft.so.11",
              "libcufftw.so.11",   "libcurand.so.10",           "libcusolver.so.11",   "libcusparse.so.12",
              "libnvrtc.so.12",    "libnvrtc-builtins.so.12.8", "libnvJitLink.so.12",  "libcupti.so.12",
              "cudart64_12.dll",   "cublas64_12.dll",           "cublasLt64_12.dll",   "cufft64_11.dll",
              "cufftw64_11.dll",   "curand64_10.dll",           "cusolver64_11.dll",   "cusparse64_12.dll",
              "nvrtc64_120_0.dll", "nvrtc-builtins64_128.dll",  "nvJitLink_120_0.dll", "nvToolsExt64_1.dll"}},
      {"13", {"libcudart.so.13",   "libcublas.so.13",           "libcublasLt.so.13",  "libcufft.so.12",
              "libcufftw.so.12",   "libcurand.so.10",           "libcusolver.so.12",  "libcusparse.so.12",
              "libnvrtc.so.13",    "libnvrtc-builtins.so.13.0", "libnvJitLink.so.13", "libcupti.so.13",
              "cudart64_13.dll",   "cublas64_13.dll",           "cublasLt64_13.dll",  "cufft64_12.dll",
              "cufftw64_12.dll",   "curand64_10.dll",           "cusolver64_12.dll",  "cusparse64_12.dll",
              "nvrtc64_130_0.dll", "nvJitLink_130_0.dll"}},
  };
  for (const Names& cuda : cudas)
    for (const char* library : cuda.libraries) {
      if (library == nullptr) break;
      EXPECT_THAT(provider_text(library), HasSubstr(cuda.part)) << library;
    }
  for (const char* library :
       {"libnvToolsExt.so.1", "libnccl.so.2", "libnvvm.so.4", "nvrtc-builtins64_133.dll"})
    EXPECT_NE(provider_of(library), nullptr) << library;
}

TEST(Providers, RuntimesOfCompilersAndSystemsAreNamedForEachSystem) {
  constexpr Case cases[] = {
      {"libgomp.so.1",
       "Debian package libgomp1, probably Fedora: dnf install 'libgomp.so.1()(64bit)', probably conda "
       "package libgomp"},
      {"libstdc++.so.6", "libstdc++6"},
      {"libopenblas.so.0", "libopenblas0"},
      {"libmkl_rt.so.2", "package index mkl"},
      {"MSVCP140.dll", "Visual C++ Redistributable"},
      {"VCRUNTIME140_1.dll", "Visual C++ Redistributable"},
      {"api-ms-win-crt-runtime-l1-1-0.dll", "Windows 10"},
      {"zlibwapi.dll", "libzlib-wapi"},
      {"libiomp5md.dll", "intel-openmp"},
      {"@rpath/libomp.dylib", "llvm-openmp"},
  };
  for (const Case& one : cases) EXPECT_THAT(provider_text(one.library), HasSubstr(one.part)) << one.library;
}

// The number at the end decides which release is needed, and what is of another release is not offered.
TEST(Providers, ALibraryIsOfTheReleaseThatItsNumberNames) {
  struct Release {
    const char *library, *part, *other;
  };
  constexpr Release cases[] = {
      {"libavutil.so.56", "FFmpeg 4", "libavutil57"},
      {"libavutil.so.57", "FFmpeg 5: Debian package libavutil57", "FFmpeg 6"},
      {"libavutil.so.58", "FFmpeg 6: conda-forge's package ffmpeg=6", "Debian"},
      {"libavcodec.so.61", "FFmpeg 7", "Debian"},
      {"libavformat.so.62.3.100", "FFmpeg 8", "Debian"},
      {"libavfilter.so.8", "Debian package libavfilter8", "FFmpeg 8"},
      {"libswresample.so.4", "FFmpeg 5 and 6", "FFmpeg 4"},
      {"libpostproc.so.58", "FFmpeg 7", "Debian"},
      {"libamdhip64.so.5", "Debian package libamdhip64-5", "ROCm 6"},
      {"libamdhip64.so.6", "ROCm 6: hip-runtime-amd of AMD's ROCm 6", "libamdhip64-5"},
      {"libamdhip64.so.7", "ROCm 7: hip-runtime-amd", "libamdhip64-5"},
      {"libamdhip64.so.8", "ROCm: hip-runtime-amd", "libamdhip64-5"},
      {"AMDHIP64_6.DLL", "ROCm 6", "ROCm 5"},
      {"libcudss.so.0", "\"nvidia-cudss-cu12<1\"", "cuDSS 1:"},
      {"libcudss.so.1", "\"nvidia-cudss-cu13>=1\"", "<1"},
      {"libcudss_mtlayer_gomp.so.0", "nvidia-cudss-cu12", "FFmpeg"},
      {"libnvpl_lapack_lp64_gomp.so.0", "nvpl-lapack", "nvpl-blas"},
      {"libnvpl_blas_core.so.0", "nvpl-blas", "nvpl-lapack"},
      {"libnvpl_blacs_lp64_openmpi4.so.0", "nvpl-scalapack", "nvpl-blas"},
      {"libnvshmem_host.so.3", "nvidia-nvshmem-cu13", "Debian"},
      {"nvshmem_bootstrap_uid.so.3", "nvidia-nvshmem-cu12", "Debian"},
      {"libnvinfer.so.8", "\"tensorrt<9\"", "TensorRT 10"},
      {"libnvinfer.so.10", "\"tensorrt==10.*\"", "TensorRT 8"},
      {"libnvonnxparser.so.10", "TensorRT 10", "TensorRT 8"},
      {"libnvinfer_builder_resource.so.10.7.0", "of the very version", "TensorRT 10"},
      {"libnvinfer_lean.so.10", "\"tensorrt-lean-cu12-libs==10.*\"", "==11"},
      {"libnvinfer_vc_plugin.so.11.4.0", "\"tensorrt-lean-cu13-libs==11.*\"", "==10"},
      {"libnvinfer_dispatch.so.10", "\"tensorrt-dispatch-cu12-libs==10.*\"", "lean"},
      {"nvinfer_builder_resource_10.dll", "of the very version", "TensorRT 10"},
      {"NVINFER_LEAN_11.DLL", "\"tensorrt-lean-cu12-libs==11.*\"", "==10"},
      {"libze_loader.so.1", "Debian package libze1", "ROCm"},
      {"libsycl.so.7", "\"intel-sycl-rt==2024.*\"", "2025"},
      {"libsycl.so.8.0.0", "\"intel-sycl-rt==2025.*\"", "2024"},
      {"libmkl_sycl_blas.so.5", "\"onemkl-sycl-blas==2025.*\"", "Intel MKL"},
      {"libmkl_def.so.2", "of the very version of libmkl_core", "SYCL"},
      {"libmkl_gnu_thread.so.2", "Intel MKL: ", "very version"},
      {"libur_loader.so.0", "intel-cmplr-lib-ur", "Debian"},
      {"libsvml.so", "intel-cmplr-lib-rt", "Debian"},
      {"libnppicc.so.12", "nvidia-npp-cu12", "Debian"},
      {"libnvjpeg.so.13", "package index nvidia-nvjpeg", "cu12"},
      {"libomp140.x86_64.dll", "PyTorch 2.4.1 or newer", "Redistributable"},
  };
  for (const Release& one : cases) {
    EXPECT_THAT(provider_text(one.library), HasSubstr(one.part)) << one.library;
    EXPECT_THAT(provider_text(one.library), Not(HasSubstr(one.other))) << one.library;
  }
  for (const char* unknown : {"libavutil.so.99", "libcudss.so.2", "libze_loader.so.2", "libavutility.so.57"})
    EXPECT_EQ(provider_text(unknown), "") << unknown;
}

TEST(Providers, UnknownNamesGiveNothing) {
  for (const char* library :
       {"libcudart.so.1234", "libunheardof.so.1", "", "libcuda.so.2", "engine.dll", "LIBZ.SO.1"})
    EXPECT_EQ(provider_text(library), "") << library;
}

// Packages of the package index that only say "this is a fake package" or "deprecated" must never be named.
TEST(Providers, PackagesThatProvideNothingAreNotNamed) {
  for (const Provider& row : all_providers())
    for (const char* empty : {"nvidia-cublas-cu13", "nvidia-cuda-runtime-cu13", "nvidia-cufft-cu13",
                              "nvidia-cudnn,", "nvidia-cuda-nvrtc-cu13", "nvidia-cudnn-cu110"})
      EXPECT_THAT(std::string(row.package_index) + ",", Not(HasSubstr(empty))) << row.file;
}

TEST(Providers, TheRemedyForAMissingLibraryNamesItsProvider) {
  Diagnosis diagnosis = diagnose(Code::run_time_library_missing).with(Key::library, "zlibwapi.dll");
  ASSERT_FALSE(render(diagnosis).remedy.empty());
  EXPECT_THAT(render(diagnosis).remedy.front(), HasSubstr("probably conda package libzlib-wapi"));
}

}  // namespace
}  // namespace enginehost::explain
