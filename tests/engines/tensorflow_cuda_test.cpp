// The TensorFlow adapter's choice of a device, with a library that has TensorFlow's C API and a fake driver
// with two GPUs. tensorflow_gpu_test.cpp uses the published library.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engines/tensorflow/placement.hpp"
#include "engines/tensorflow/protobuf.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/engines/saved_models.hpp"

namespace enginehost::engines::tests {
namespace {

namespace fs = std::filesystem;
namespace tf = enginehost::engines::tensorflow;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr engine_device cuda = {ENGINE_CUDA, 0}, second = {ENGINE_CUDA, 1}, third = {ENGINE_CUDA, 2};

class TensorFlowCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
    const std::string file = root + "/tensorflow/libtensorflow_cc.so.2";
    fs::create_directories(root + "/tensorflow");
    fs::copy_file(ENGINEHOST_PLAYED_TENSORFLOW, file);
    played = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(played, nullptr) << dlerror();
    const tensorflow::SavedModel model = tensorflow::layer();
    model.write(root + "/model");
    std::ofstream(root + "/model/meta_graph", std::ios::binary) << model.meta_graph();
  }
  void TearDown() override { fs::remove_all(root); }
  template <class T>
  T& variable(const char* name) const {
    return *static_cast<T*>(dlsym(played, name));
  }
  std::string config() const {
    return {&variable<char>("played_config"), variable<size_t>("played_config_length")};
  }
  void fail_next_session(const std::string& message) const {
    std::strcpy(&variable<char>("played_failure"), message.c_str());
  }
  std::string model() const { return root + "/model"; }

  Library library{plugin_path("tensorflow")};
  std::string root;
  void* played = nullptr;
};

TEST_F(TensorFlowCuda, WithoutADriverTheDeviceIsRefusedAndTheDriverNamed) {
  if (void* real = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a driver";
  }
  // Nothing of CUDA is opened on a machine without a driver.
  Engine engine(library, root, {{"tensorflow.cuda", "nvidia/lib/libcudart.so.11.0"}});
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  EXPECT_EQ(engine.devices->count(engine.get()), 1u);
  Model refused(engine, "savedmodel", model(), false, {}, cuda);
  EXPECT_EQ(refused.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(refused.call.message(), HasSubstr("there is no NVIDIA driver: libcuda.so.1"));
  EXPECT_EQ(refused.call.details["missing_library"], "libcuda.so.1");
  EXPECT_EQ(refused.call.details["device"], "cuda:0");
  Call test;
  EXPECT_EQ(engine.selftest->run(engine.get(), 0, cuda, &test), ENGINE_UNAVAILABLE);
}

// The fake driver stays in the process: from here on there is one.
class TensorFlowCudaDriver : public TensorFlowCuda {
 protected:
  void SetUp() override {
    TensorFlowCuda::SetUp();
    setenv("FAKE_GPUS", "First GPU;8.6;a0;8192|Second GPU;9.0;b0;16384", 1);
    ASSERT_NE(dlopen(ENGINEHOST_FAKE_CUDA, RTLD_NOW), nullptr) << dlerror();
  }
};

TEST_F(TensorFlowCudaDriver, ListsTheDriversDevicesAfterTheCpu) {
  Engine engine(library, root);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  ASSERT_EQ(engine.devices->count(engine.get()), 3u);
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine.devices->info(engine.get(), 0, &info, &call), ENGINE_OK);
  EXPECT_STREQ(info.name, "/job:localhost/replica:0/task:0/device:CPU:0");
  ASSERT_EQ(engine.devices->info(engine.get(), 2, &info, &call), ENGINE_OK);
  EXPECT_EQ(info.device.type, second.type);
  EXPECT_EQ(info.device.index, second.index);
  EXPECT_STREQ(info.kind, "cuda");
  EXPECT_STREQ(info.name, "Second GPU");
  EXPECT_STREQ(info.architecture, "9.0");
  EXPECT_EQ(info.memory_total, uint64_t{16384} << 20);
  EXPECT_EQ(engine.devices->info(engine.get(), 3, &info, &call), ENGINE_INVALID);
  Model missing(engine, "savedmodel", model(), false, {}, third);
  EXPECT_EQ(missing.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(missing.call.message(), "This build has cpu:0, cuda:0, cuda:1, not cuda:2.");
}

// ConfigProto: device_count 1 { key 1, value 2 }, gpu_options 6 { allow_growth 4, visible_device_list 5 }
TEST_F(TensorFlowCudaDriver, ASessionSeesItsDeviceOnly) {
  Engine engine(library, root);
  std::string_view hidden = tf::last_field(config(), 1).bytes;
  EXPECT_EQ(std::string(hidden), tf::bytes_field(1, "GPU") + tf::number_field(2, 0));
  Model on_gpu(engine, "savedmodel", model(), false, {}, second);
  ASSERT_EQ(on_gpu.status, ENGINE_OK) << on_gpu.call.message();
  const std::string used = config();
  EXPECT_EQ(tf::last_field(used, 1).number, 0u);
  EXPECT_EQ(tf::last_field(tf::last_field(used, 6).bytes, 5).bytes, "1");
  EXPECT_EQ(tf::last_field(tf::last_field(used, 6).bytes, 4).value, 1u);
  // TensorFlow maps one GPU for each process.
  Model on_other(engine, "savedmodel", model(), false, {}, cuda);
  EXPECT_EQ(on_other.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(on_other.call.message(), HasSubstr("mapped to multiple devices"));
  Model on_cpu(engine, "savedmodel", model(), false);
  EXPECT_EQ(on_cpu.status, ENGINE_OK);
  EXPECT_EQ(tf::last_field(config(), 6).number, 0u);
}

TEST_F(TensorFlowCudaDriver, ASessionThatLacksItsGpuIsRefused) {
  variable<int>("played_without_cuda") = 1;
  Engine engine(library, root);
  Model refused(engine, "savedmodel", model(), false, {}, cuda);
  EXPECT_EQ(refused.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(refused.call.message(), HasSubstr("cuda:0 is not available: TensorFlow makes no device of it"));
  Call test;
  EXPECT_EQ(engine.selftest->run(engine.get(), 0, cuda, &test), ENGINE_UNAVAILABLE);
}

TEST_F(TensorFlowCudaDriver, FailuresOfCudaHaveTheirClasses) {
  Engine engine(library, root);
  for (const auto& [message, status] :
       {std::pair("failed initializing StreamExecutor for CUDA device ordinal 0: INTERNAL: failed call to "
                  "cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
                  ENGINE_NO_MEMORY),
        std::pair("failed initializing StreamExecutor for CUDA device ordinal 0: INTERNAL: failed call to "
                  "cuDevicePrimaryCtxRetain: CUDA_ERROR_UNKNOWN: unknown error",
                  ENGINE_UNAVAILABLE),
        std::pair("cudaGetDevice() failed. Status: named symbol not found", ENGINE_UNAVAILABLE),
        std::pair("another failure", ENGINE_CORRUPT)}) {
    fail_next_session(message);
    Model refused(engine, "savedmodel", model(), false, {}, cuda);
    EXPECT_EQ(refused.status, status) << message;
    EXPECT_EQ(refused.call.message(), message);
  }
}

TEST_F(TensorFlowCudaDriver, TheFirstRunReportsWhereOperationsRan) {
  Engine engine(library, root);
  Floats row({1, 3}, {1, 2, 3});
  Model whole(engine, "savedmodel", model(), false, {}, cuda);
  ASSERT_EQ(whole.status, ENGINE_OK) << whole.call.message();
  for (const char* expected : {"GPU 1", ""}) {
    Results results;
    Call call;
    ASSERT_EQ(whole.run({{0, &row.tensor}}, results, call), ENGINE_OK) << call.message();
    EXPECT_EQ(call.details["placement"], expected);
    EXPECT_THAT(results.of(0).as<float>(), ElementsAre(7, 10));
  }
  variable<int>("played_on_cpu") = 2;
  Model partly(engine, "savedmodel", model(), false, {}, cuda);
  Results results, none;
  Call some, all;
  ASSERT_EQ(partly.run({{0, &row.tensor}}, results, some), ENGINE_OK) << some.message();
  EXPECT_EQ(some.details["placement"], "CPU 1, GPU 1 (on the CPU: upper (StringUpper))");
  variable<int>("played_on_cpu") = 1;
  Model nowhere(engine, "savedmodel", model(), false, {}, cuda);
  EXPECT_EQ(nowhere.run({{0, &row.tensor}}, none, all), ENGINE_INTERNAL);
  EXPECT_EQ(all.message(),
            "cuda:0 was requested and computed no operation: CPU 1 (on the CPU: upper (StringUpper)).");
  EXPECT_TRUE(none.values.empty());
  Model unknown(engine, "savedmodel", model(), false, {{"placement", "guess"}});
  EXPECT_EQ(unknown.status, ENGINE_INVALID);
  EXPECT_EQ(unknown.call.details["option"], "placement");
}

TEST_F(TensorFlowCudaDriver, TheSelfTestRunsItsGraphOnTheDevice) {
  Engine engine(library, root);
  Call opens, computes;
  EXPECT_EQ(engine.selftest->run(engine.get(), 1, cuda, &opens), ENGINE_OK) << opens.message();
  EXPECT_EQ(tf::last_field(tf::last_field(config(), 6).bytes, 5).bytes, "0");
  // The library's product is no matrix of four, so its answer is wrong.
  EXPECT_EQ(engine.selftest->run(engine.get(), 2, cuda, &computes), ENGINE_INTERNAL);
  EXPECT_EQ(computes.details["placement"], "GPU 1");
}

TEST_F(TensorFlowCudaDriver, LibrariesOfCudaAreOpenedBeforeTensorFlow) {
  Engine outside(library, root, {{"tensorflow.cuda", "../libcudart.so.11.0"}});
  EXPECT_EQ(outside.status, ENGINE_INVALID);
  EXPECT_EQ(outside.call.details["option"], "tensorflow.cuda");
  Engine missing(library, root, {{"tensorflow.cuda", "nvidia/lib/libcudart.so.11.0"}});
  EXPECT_EQ(missing.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(missing.call.details["missing_library"], HasSubstr("libcudart.so.11.0"));
  const std::string command =
      "echo 'int one;' | gcc -shared -fPIC -x c -Wl,-soname,libfirst.so.1 -o '" + root + "/libfirst.so' -";
  ASSERT_EQ(std::system(command.c_str()), 0);
  Engine opened(library, root, {{"tensorflow.cuda", "libfirst.so,tensorflow/libtensorflow_cc.so.2"}});
  EXPECT_EQ(opened.status, ENGINE_OK) << opened.call.message();
  EXPECT_NE(dlopen("libfirst.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr) << "TensorFlow finds it by its name";
}

TEST(TensorFlowPlacement, DamagedStatisticsAreReported) {
  for (const char* damaged : {"\x0a", "\x0a\x05\x0a"}) EXPECT_THROW(tf::placement_of(damaged), Failure);
  EXPECT_TRUE(tf::placement_of("").empty());
}

}  // namespace
}  // namespace enginehost::engines::tests
