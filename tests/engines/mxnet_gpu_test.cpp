// The published MXNet for CUDA 11.2 with CUDA 11.7's published libraries, on a machine without a GPU: its
// results on the CPU, and that a request for cuda:0 never runs there. Fetched through pip, 2 GB.
#include <dlfcn.h>

#include <filesystem>

#include "tests/engines/fetched.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::HasSubstr;

constexpr engine_device cuda = {ENGINE_CUDA, 0};

struct Part {
  const char *project, *version, *folder;
  std::vector<const char*> libraries;  // in the order in which they can be opened
};

// As the host does before it opens libmxnet.so; its own search path has only its own folder.
void open_libraries_of_cuda() {
  for (const Part& part :
       {Part{"nvidia-cuda-runtime-cu11", "11.7.99", "cuda_runtime", {"libcudart.so.11.0"}},
        Part{"nvidia-cublas-cu11", "11.10.3.66", "cublas", {"libcublasLt.so.11", "libcublas.so.11"}},
        Part{"nvidia-cufft-cu11", "10.9.0.58", "cufft", {"libcufft.so.10"}},
        Part{"nvidia-curand-cu11", "10.2.10.91", "curand", {"libcurand.so.10"}},
        Part{"nvidia-cusolver-cu11", "11.4.0.1", "cusolver", {"libcusolver.so.11"}},
        Part{"nvidia-cudnn-cu11", "8.5.0.96", "cudnn", {"libcudnn.so.8"}},
        Part{"nvidia-nccl-cu11", "2.14.3", "nccl", {"libnccl.so.2"}},
        Part{"nvidia-nvtx-cu11", "11.7.91", "nvtx", {"libnvToolsExt.so.1"}},
        Part{"nvidia-cuda-nvrtc-cu11", "11.7.99", "cuda_nvrtc", {"libnvrtc.so.11.2"}}}) {
    const Fetched fetched = fetch(part.project, part.version, "nvidia/*/lib/*.so*");
    if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
    for (const char* library : part.libraries) {
      const std::string file = fetched.folder + "/nvidia/" + part.folder + "/lib/" + library;
      ASSERT_NE(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
    }
  }
}

TEST(MxnetGpu, RefusesCudaBesideAFakeDriverAndComputesOnTheCpu) {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "this machine has a driver";
  const Fetched fetched = fetch("mxnet-cu112", "1.9.1", "mxnet/lib*.so*");
  if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
  ASSERT_NO_FATAL_FAILURE(open_libraries_of_cuda());
  if (IsSkipped()) return;
  const Library library(plugin_path("mxnet"));
  Engine without_driver(library, fetched.folder);
  EXPECT_EQ(without_driver.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(without_driver.call.details["missing_library"], "libcuda.so.1");
  ASSERT_NE(dlopen(ENGINEHOST_FAKE_CUDA, RTLD_NOW), nullptr) << dlerror();
  Engine engine(library, fetched.folder);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  EXPECT_EQ(engine.devices->count(engine.get()), 1u)
      << "CUDA's library finds no functions in the fake driver";
  for (int32_t level : {0, 1, 2}) {
    Call on_cpu, on_gpu;
    EXPECT_EQ(engine.selftest->run(engine.get(), level, cpu, &on_cpu), ENGINE_OK) << on_cpu.message();
    EXPECT_EQ(engine.selftest->run(engine.get(), level, cuda, &on_gpu), ENGINE_UNAVAILABLE);
    EXPECT_THAT(on_gpu.message(), HasSubstr("MXNet can use none of the driver's devices"));
  }
}

}  // namespace
}  // namespace enginehost::engines::tests
