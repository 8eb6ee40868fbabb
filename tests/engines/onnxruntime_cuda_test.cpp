// The ONNX Runtime adapter when CUDA is requested and unavailable, with a fake runtime up to the point where
// a session would be created. onnxruntime_gpu_test.cpp uses published ones.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::HasSubstr;

constexpr engine_device cuda = {ENGINE_CUDA, 0}, second = {ENGINE_CUDA, 1};

// The slots that are called until the CUDA provider was requested; its message is the real one's text.
constexpr const char* played_runtime = R"(
static int code(const void* s) { (void)s; return 1; }
static const char* message(const void* s) { return s; }
static void* env(void* l, void* p, int s, const char* i, void** o) { (void)l; (void)p; (void)s; (void)i; *o = o; return 0; }
static void* make(void** o) { *o = o; return 0; }
static void* memory(int a, int b, void** o) { (void)a; (void)b; *o = o; return 0; }
static void* update(void* o, void* k, void* v, unsigned long n) { (void)o; (void)k; (void)v; (void)n;
  return "provider_bridge_ort.cc:1844 Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library "
         "libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such "
         "file or directory\n"; }
static void drop(void* o) { (void)o; }
static void* table[300];
static void* const* get(unsigned v) { (void)v;
  table[1] = code; table[2] = message; table[4] = env; table[10] = make; table[69] = memory; table[78] = make;
  table[92] = table[93] = table[94] = table[100] = table[208] = drop; table[205] = make; table[206] = update;
  return table; }
static const char* text(void) { return "1.27.0"; }
struct base { void* const* (*get)(unsigned); const char* (*text)(void); };
static const struct base one = { get, text };
const struct base* OrtGetApiBase(void) { return &one; }
)";

class OnnxRuntimeCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
    const std::filesystem::path folder = std::filesystem::path(root) / "onnxruntime/capi";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "source.c") << played_runtime;
    const std::string command = "gcc -shared -fPIC -o '" + (folder / "libonnxruntime.so.1.27.0").native() +
                                "' '" + (folder / "source.c").native() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ofstream(folder / "libonnxruntime_providers_cuda.so") << "only its name is looked at";
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  Library library{plugin_path("onnxruntime")};
  std::string root;
};

TEST_F(OnnxRuntimeCuda, WithoutADriverTheDeviceIsRefusedAndTheDriverNamed) {
  if (void* real = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a driver";
  }
  Engine engine(library, root);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  EXPECT_EQ(engine.devices->count(engine.get()), 1u);
  Model model(engine, "onnx", "", true, {}, cuda);
  EXPECT_EQ(model.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(model.call.message(), HasSubstr("there is no NVIDIA driver: libcuda.so.1"));
  EXPECT_EQ(model.call.details["missing_library"], "libcuda.so.1");
  EXPECT_EQ(model.call.details["device"], "cuda:0");
  Call again;
  EXPECT_EQ(engine.selftest->run(engine.get(), 0, cuda, &again), ENGINE_UNAVAILABLE);
}

// The fake driver stays in the process: from here on there is one.
class OnnxRuntimeCudaDriver : public OnnxRuntimeCuda {
 protected:
  void SetUp() override {
    OnnxRuntimeCuda::SetUp();
    ASSERT_NE(dlopen(ENGINEHOST_FAKE_CUDA, RTLD_NOW), nullptr) << dlerror();
  }
};

TEST_F(OnnxRuntimeCudaDriver, ListsTheDriversDevicesAfterTheCpu) {
  Engine engine(library, root);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  ASSERT_EQ(engine.devices->count(engine.get()), 2u);
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine.devices->info(engine.get(), 1, &info, &call), ENGINE_OK);
  EXPECT_EQ(info.device.type, cuda.type);
  EXPECT_STREQ(info.kind, "cuda");
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_STREQ(info.architecture, "8.6");
  EXPECT_EQ(info.memory_total, uint64_t{8192} << 20);
  EXPECT_EQ(engine.devices->info(engine.get(), 2, &info, &call), ENGINE_INVALID);
}

TEST_F(OnnxRuntimeCudaDriver, AMissingProviderLibraryIsNamedAndNothingRunsOnTheCpu) {
  Engine engine(library, root);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  Model model(engine, "onnx", "", true, {}, cuda);
  EXPECT_EQ(model.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(
      model.call.message(),
      "cuda:0 is not available: libonnxruntime_providers_cuda.so cannot be used: libcublasLt.so.13: cannot "
      "open shared object file: No such file or directory");
  EXPECT_EQ(model.call.details["missing_library"], "libcublasLt.so.13");
  EXPECT_EQ(model.call.details["provider"], "CUDAExecutionProvider");
  Call test;
  EXPECT_EQ(engine.selftest->run(engine.get(), 0, cuda, &test), ENGINE_UNAVAILABLE);
  EXPECT_EQ(test.details["missing_library"], "libcublasLt.so.13");
}

TEST_F(OnnxRuntimeCudaDriver, AMissingDeviceIsRefusedWithTheExistingOnes) {
  Engine engine(library, root);
  Model model(engine, "onnx", "", true, {}, second);
  EXPECT_EQ(model.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(model.call.message(), "This build has cpu:0, cuda:0, not cuda:1.");
}

TEST_F(OnnxRuntimeCudaDriver, ARuntimeForTheCpuDoesNotAskForTheDriver) {
  std::filesystem::remove(root + "/onnxruntime/capi/libonnxruntime_providers_cuda.so");
  Engine engine(library, root);
  EXPECT_EQ(engine.devices->count(engine.get()), 1u);
  Model model(engine, "onnx", "", true, {}, cuda);
  EXPECT_EQ(model.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(model.call.message(), "This build has only cpu:0, not cuda:0.");
}

}  // namespace
}  // namespace enginehost::engines::tests
