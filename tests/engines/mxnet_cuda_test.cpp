// The MXNet adapter's choice of a device, with a library that has MXNet's C API and a fake driver with two
// GPUs. mxnet_gpu_test.cpp uses the published library.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tests/engines/mxnet_models.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr engine_device cuda = {ENGINE_CUDA, 0}, second = {ENGINE_CUDA, 1}, third = {ENGINE_CUDA, 2};

// A network without parameters has one input "x" and one output of one number. The library counts `gpus`
// devices; `failure` is the message with which the next network fails.
constexpr const char* played_library = R"(
#include <stddef.h>
#include <stdint.h>
struct feature { const char* name; _Bool enabled; };
int cuda = 1, gpus = 2, device_type, device_index;
char failure[256];
static char said[256];
static int fails(void) {
  for (int i = 0; i < 256; i++) { said[i] = failure[i]; failure[i] = 0; }
  return said[0] != 0 ? -1 : 0;
}
const char* MXGetLastError(void) { return said; }
int MXGetVersion(int* version) { *version = 10901; return 0; }
int MXSetNumOMPThreads(int count) { (void)count; return 0; }
int MXLibInfoFeatures(const struct feature** out, size_t* count) {
  static struct feature list[2] = {{"OPENMP", 1}, {"CUDA", 1}};
  list[1].enabled = cuda; *out = list; *count = 2; return 0; }
int MXGetGPUCount(int* count) { *count = gpus; return fails(); }
int MXSymbolCreateFromJSON(const char* json, void** out) { (void)json; *out = said; return 0; }
int MXSymbolFree(void* symbol) { (void)symbol; return 0; }
static const char *input[] = {"x"}, *output[] = {"y"};
int MXSymbolListArguments(void* s, uint32_t* count, const char*** names) { (void)s; *count = 1; *names = input; return 0; }
int MXSymbolListAuxiliaryStates(void* s, uint32_t* count, const char*** names) { (void)s; *count = 0; *names = input; return 0; }
int MXSymbolListOutputs(void* s, uint32_t* count, const char*** names) { (void)s; *count = 1; *names = output; return 0; }
int MXNDArrayLoadFromBuffer(const void* b, size_t n, uint32_t* arrays, void*** list, uint32_t* count, const char*** names) {
  (void)b; (void)n; (void)list; *arrays = *count = 0; *names = input; return 0; }
int MXNDArrayFree(void* array) { (void)array; return 0; }
int MXPredCreateEx(const char* json, const void* p, int n, int type, int index, uint32_t inputs, const char** names,
                   const uint32_t* starts, const uint32_t* sizes, uint32_t types, const char** typed, const int* of, void** out) {
  (void)json; (void)p; (void)n; (void)inputs; (void)names; (void)starts; (void)sizes; (void)types; (void)typed; (void)of;
  device_type = type; device_index = index; *out = said; return fails(); }
int MXPredFree(void* p) { (void)p; return 0; }
int MXPredSetInput(void* p, const char* name, const float* data, uint32_t count) { (void)p; (void)name; (void)data; (void)count; return 0; }
int MXPredForward(void* p) { (void)p; return 0; }
int MXPredGetOutputShape(void* p, uint32_t i, uint32_t** sizes, uint32_t* rank) {
  static uint32_t one = 1; (void)p; (void)i; *sizes = &one; *rank = 1; return 0; }
int MXPredGetOutputType(void* p, uint32_t i, int* type) { (void)p; (void)i; *type = 0; return 0; }
int MXPredGetOutput(void* p, uint32_t i, float* data, uint32_t count) { (void)p; (void)i; (void)count; *data = 7; return fails(); }
)";

class MxnetCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
    mxnet::write(root + "/mxnet/source.c", played_library);
    const std::string file = root + "/mxnet/libmxnet.so";
    const std::string command = "gcc -shared -fPIC -o '" + file + "' '" + root + "/mxnet/source.c'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    played = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(played, nullptr) << dlerror();
    mxnet::write(root + "/net-symbol.json", "{}");
    setenv("FAKE_GPUS", "First GPU;8.6;a0;8192|Second GPU;9.0;b0;16384", 1);
    ASSERT_NE(dlopen(ENGINEHOST_FAKE_CUDA, RTLD_NOW), nullptr) << dlerror();
  }
  void TearDown() override {
    unsetenv("FAKE_CU_INIT");
    std::filesystem::remove_all(root);
  }
  int& variable(const char* name) const { return *static_cast<int*>(dlsym(played, name)); }
  void fail_next(const std::string& message) const {
    std::strcpy(static_cast<char*>(dlsym(played, "failure")), message.c_str());
  }
  std::string model() const { return root + "/net-symbol.json"; }

  Library library{plugin_path("mxnet")};
  std::string root;
  void* played = nullptr;
};

TEST_F(MxnetCuda, ListsTheDriversDevicesThatMxnetCounts) {
  Engine engine(library, root);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  ASSERT_EQ(engine.devices->count(engine.get()), 3u);
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine.devices->info(engine.get(), 2, &info, &call), ENGINE_OK);
  EXPECT_EQ(info.device.type, second.type);
  EXPECT_EQ(info.device.index, second.index);
  EXPECT_STREQ(info.name, "Second GPU");
  EXPECT_STREQ(info.architecture, "9.0");
  Model missing(engine, "mxnet", model(), false, {}, third);
  EXPECT_EQ(missing.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(missing.call.message(), "This build has cpu:0, cuda:0, cuda:1, not cuda:2.");
  variable("gpus") = 1;
  Engine fewer(library, root);
  EXPECT_EQ(fewer.devices->count(fewer.get()), 2u);
}

TEST_F(MxnetCuda, TheReasonWhyThereIsNoDeviceIsReported) {
  fail_next(
      "CUDA: Check failed: e == cudaSuccess: CUDA driver version is insufficient for CUDA runtime version");
  Engine refused(library, root);
  ASSERT_EQ(refused.status, ENGINE_OK) << refused.call.message();
  EXPECT_EQ(refused.devices->count(refused.get()), 1u);
  Model old(refused, "mxnet", model(), false, {}, cuda);
  EXPECT_EQ(old.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(old.call.message(), HasSubstr("CUDA driver version is insufficient"));
  setenv("FAKE_CU_INIT", "100", 1);
  Engine none(library, root);
  Model absent(none, "mxnet", model(), false, {}, cuda);
  EXPECT_EQ(absent.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(absent.call.message(),
            "cuda:0 is not available: the driver has no device: cuInit answers error 100.");
  variable("cuda") = 0;
  Engine for_cpu(library, root);
  Model no_code(for_cpu, "mxnet", model(), false, {}, cuda);
  EXPECT_EQ(no_code.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(no_code.call.message(), "This build has only cpu:0, not cuda:0.");
  Call test;
  EXPECT_EQ(for_cpu.selftest->run(for_cpu.get(), 0, cuda, &test), ENGINE_INVALID);
}

TEST_F(MxnetCuda, ANetworkIsMadeOnItsDevice) {
  Engine engine(library, root);
  Floats x({1}, {1});
  for (const auto& [device, type, index] :
       {std::tuple(second, 2, 1), std::tuple(cuda, 2, 0), std::tuple(cpu, 1, 0)}) {
    Model network(engine, "mxnet", model(), false, {}, device);
    ASSERT_EQ(network.status, ENGINE_OK) << network.call.message();
    Results results;
    Call call;
    ASSERT_EQ(network.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
    EXPECT_THAT(results.of(0).as<float>(), ElementsAre(7));
    EXPECT_EQ(variable("device_type"), type);
    EXPECT_EQ(variable("device_index"), index);
  }
  // The library's product is no matrix of four, so its answer is wrong.
  Call test;
  EXPECT_EQ(engine.selftest->run(engine.get(), 1, second, &test), ENGINE_INTERNAL);
  EXPECT_EQ(variable("device_type"), 2);
  EXPECT_EQ(variable("device_index"), 1);
}

TEST_F(MxnetCuda, FailuresOfCudaHaveTheirClasses) {
  Engine engine(library, root);
  Floats x({1}, {1});
  for (const auto& [message, status] :
       {std::pair("cudaMalloc retry failed: out of memory", ENGINE_NO_MEMORY),
        std::pair("CUDA: no kernel image is available for execution on the device", ENGINE_UNAVAILABLE),
        std::pair("Operator other is not implemented for GPU.", ENGINE_INVALID)}) {
    Model network(engine, "mxnet", model(), false, {}, cuda);
    fail_next(message);
    Results results;
    Call call;
    EXPECT_EQ(network.run({{0, &x.tensor}}, results, call), status) << message;
    EXPECT_EQ(call.message(), message);
  }
}

}  // namespace
}  // namespace enginehost::engines::tests
