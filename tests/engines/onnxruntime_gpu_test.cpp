// Published ONNX Runtimes with the CUDA provider on a machine without a GPU: their results on the CPU, and
// that a request for cuda:0 never runs there. Fetched through pip, 220 to 300 MB each.
#include <dlfcn.h>

#include "tests/engines/fetched.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr engine_device cuda = {ENGINE_CUDA, 0};

struct Release {
  const char *version, *first_missing;
};

class OnnxRuntimeGpu : public testing::TestWithParam<Release> {
 protected:
  void SetUp() override {
    // Queried once, because the last tests load a driver of their own.
    static const bool has_driver = dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
    if (has_driver) GTEST_SKIP() << "this machine has a driver";
    Fetched fetched = fetch("onnxruntime-gpu", GetParam().version, "onnxruntime/capi/lib*.so*");
    if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
    root = fetched.folder;
    engine = std::make_unique<Engine>(library, root);
    ASSERT_EQ(engine->status, ENGINE_OK) << engine->call.message();
  }
  Library library{plugin_path("onnxruntime")};
  std::string root;
  std::unique_ptr<Engine> engine;
};

TEST_P(OnnxRuntimeGpu, ComputesOnTheCpu) {
  EXPECT_EQ(engine->fact("version"), GetParam().version);
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cpu, &call), ENGINE_OK) << call.message();
  }
  Floats a({2, 2}, {1, 2, 3, 4});
  Results results;
  Call call;
  ASSERT_EQ(engine->run("MatMul", {&a.tensor, &a.tensor}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(7, 10, 15, 22));
}

TEST_P(OnnxRuntimeGpu, RefusesCudaWithoutADriver) {
  EXPECT_EQ(engine->devices->count(engine->get()), 1u);
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cuda, &call), ENGINE_UNAVAILABLE);
    EXPECT_THAT(call.message(), HasSubstr("there is no NVIDIA driver: libcuda.so.1"));
  }
}

// With a fake driver that has a device the provider is loaded and names what is missing. Where a CUDA toolkit
// is in the loader's folders it gets as far as querying the driver. The driver stays in this process, so this
// test is the last.
TEST_P(OnnxRuntimeGpu, ZTheProviderNamesTheMissingLibrary) {
  ASSERT_NE(dlopen(ENGINEHOST_FAKE_CUDA, RTLD_NOW), nullptr) << dlerror();
  Engine second(library, root);
  ASSERT_EQ(second.devices->count(second.get()), 2u);
  for (int32_t level : {0, 2}) {
    Call call;
    EXPECT_EQ(second.selftest->run(second.get(), level, cuda, &call), ENGINE_UNAVAILABLE);
    EXPECT_THAT(call.message(), HasSubstr("cuda:0 is not available: libonnxruntime_providers_cuda.so"));
    if (call.details.count("missing_library") != 0)
      EXPECT_EQ(call.details["missing_library"], GetParam().first_missing);
    else
      EXPECT_THAT(call.message(), HasSubstr("CUDA failure"));
  }
}

INSTANTIATE_TEST_SUITE_P(, OnnxRuntimeGpu,
                         testing::Values(Release{"1.23.2", "libcublasLt.so.12"},
                                         Release{"1.27.0", "libcublasLt.so.13"}),
                         [](const auto& instance) {
                           std::string name = instance.param.version;
                           for (char& one : name)
                             if (one == '.') one = '_';
                           return name;
                         });

}  // namespace
}  // namespace enginehost::engines::tests
