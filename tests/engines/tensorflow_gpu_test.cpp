// The published TensorFlow with CUDA on a machine without a GPU: its results on the CPU, and that a request
// for cuda:0 never runs there. Fetched through pip, 570 MB.
#include <dlfcn.h>

#include <filesystem>

#include "tests/engines/fetched.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/engines/saved_models.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr engine_device cuda = {ENGINE_CUDA, 0};

class TensorFlowGpu : public testing::Test {
 protected:
  void SetUp() override {
    // Queried once, because the last test loads a driver of its own.
    static const bool has_driver = dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
    if (has_driver) GTEST_SKIP() << "this machine has a driver";
    const Fetched fetched = fetch("tensorflow", "2.21.0", "tensorflow/lib*.so.2");
    if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
    root = fetched.folder;
    engine = std::make_unique<Engine>(library, root);
    ASSERT_EQ(engine->status, ENGINE_OK) << engine->call.message();
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    folder = mkdtemp(pattern.data());
    tensorflow::layer().write(folder + "/model");
  }
  void TearDown() override {
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }
  Library library{plugin_path("tensorflow")};
  std::string root, folder;
  std::unique_ptr<Engine> engine;
};

TEST_F(TensorFlowGpu, ComputesOnTheCpu) {
  EXPECT_EQ(engine->fact("version"), "2.21.0");
  EXPECT_EQ(engine->devices->count(engine->get()), 1u);
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cpu, &call), ENGINE_OK) << call.message();
  }
  Model model(*engine, "savedmodel", folder + "/model", false, {{"placement", "measure"}});
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats row({1, 3}, {1, 2, 3});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &row.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(12, 28.5f));
  EXPECT_THAT(call.details["placement"], testing::StartsWith("CPU "));
}

TEST_F(TensorFlowGpu, RefusesCudaWithoutADriver) {
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cuda, &call), ENGINE_UNAVAILABLE);
    EXPECT_THAT(call.message(), HasSubstr("there is no NVIDIA driver: libcuda.so.1"));
    EXPECT_EQ(call.details["missing_library"], "libcuda.so.1");
  }
  Model model(*engine, "savedmodel", folder + "/model", false, {}, cuda);
  EXPECT_EQ(model.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(model.call.details["device"], "cuda:0");
}

// A fake driver has a device, and CUDA's libraries are not there: TensorFlow makes a session without the GPU.
// The driver stays in this process, so this test is the last.
TEST_F(TensorFlowGpu, ZRefusesASessionThatTensorFlowMadeWithoutTheGpu) {
  ASSERT_NE(dlopen(ENGINEHOST_FAKE_CUDA, RTLD_NOW), nullptr) << dlerror();
  Engine second(library, root);
  ASSERT_EQ(second.devices->count(second.get()), 2u);
  for (int32_t level : {0, 2}) {
    Call call;
    EXPECT_EQ(second.selftest->run(second.get(), level, cuda, &call), ENGINE_UNAVAILABLE);
    EXPECT_THAT(call.message(), HasSubstr("cuda:0 is not available: TensorFlow makes no device of it"));
  }
  Model model(second, "savedmodel", folder + "/model", false, {}, cuda);
  EXPECT_EQ(model.status, ENGINE_UNAVAILABLE) << model.call.message();
  Call call;
  EXPECT_EQ(second.selftest->run(second.get(), 2, cpu, &call), ENGINE_OK) << call.message();
}

}  // namespace
}  // namespace enginehost::engines::tests
