// Common questions of an application: which device, does it work, and is the data on it.
#include "tests/sdk/played_engine.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class ChosenDevices : public PlayedEngine {
 protected:
  // The name of the device, or the code of the failure.
  std::string choose(const char* wanted) {
    enginehost_device device{};
    device.size = sizeof device;
    enginehost_error* error = nullptr;
    status_ = enginehost_engine_choose_device(engine_.get(), wanted, &device, &error);
    error_.reset(error);
    return status_ == ENGINEHOST_OK ? device.name : code();
  }
  DLManagedTensorVersioned* copy(const DLTensor& tensor, const char* device) {
    DLManagedTensorVersioned* out = nullptr;
    enginehost_error* error = nullptr;
    status_ = enginehost_tensor_copy(engine_.get(), &tensor, device, nullptr, &out, &error);
    error_.reset(error);
    return out;
  }
};

TEST_F(ChosenDevices, AreNamedByNumberByKindOrByAList) {
  EXPECT_EQ(choose("cuda:0"), "cuda:0");
  EXPECT_EQ(choose("cuda"), "cuda:0");
  EXPECT_EQ(choose("gpu"), "cuda:0");
  EXPECT_EQ(choose("cpu"), "cpu:0");
  EXPECT_EQ(choose("cuda:3,cpu"), "cpu:0");
  EXPECT_EQ(choose("cuda:3, cuda:0"), "cuda:0");
}

TEST_F(ChosenDevices, AnIndexBeyondTheLastIsAnError) {
  EXPECT_EQ(choose("cuda:1"), "EH-S09");
  EXPECT_THAT(said(), HasSubstr("cuda:1 was requested; the engine offers cuda:0, cpu:0"));
  EXPECT_EQ(choose("metal"), "EH-S09");
  EXPECT_EQ(choose("rocm,metal:1"), "EH-S09");
}

// Every call that takes a device accepts the same names.
TEST_F(ChosenDevices, AreChosenByOneRuleInEveryCall) {
  enginehost_check check = ENGINEHOST_CHECK_INIT;
  enginehost_watch watch = ENGINEHOST_WATCH_INIT;
  watch.on_device = [](const enginehost_device_event*, void*) {};
  struct Wanted {
    const char *word, *device;
    std::int64_t type;
  };
  for (const Wanted& wanted : {Wanted{nullptr, "cuda:0", kDLCUDA}, Wanted{"", "cuda:0", kDLCUDA},
                               Wanted{"gpu", "cuda:0", kDLCUDA}, Wanted{"cuda", "cuda:0", kDLCUDA},
                               Wanted{"cpu", "cpu:0", kDLCPU}, Wanted{"rocm:1,cpu", "cpu:0", kDLCPU}}) {
    SCOPED_TRACE(wanted.word != nullptr ? wanted.word : "NULL");
    EXPECT_EQ(choose(wanted.word), wanted.device);
    EXPECT_EQ(enginehost_engine_self_test(engine_.get(), 2, wanted.word, nullptr), ENGINEHOST_OK);
    EXPECT_EQ(enginehost_engine_functional(engine_.get(), wanted.word, nullptr, nullptr), ENGINEHOST_OK);
    EXPECT_EQ(enginehost_engine_check(engine_.get(), wanted.word, nullptr, &check, nullptr), ENGINEHOST_OK);
    EXPECT_STREQ(check.device, wanted.device);
    watch.device = wanted.word;
    EXPECT_EQ(enginehost_engine_watch(engine_.get(), &watch, nullptr), ENGINEHOST_OK);
    const auto model = load(wanted.word);
    ASSERT_TRUE(model) << said();
    EXPECT_EQ(run(model.get(), Numbers({1, 2}).tensor).device_type, wanted.type) << said();
  }
  EXPECT_FALSE(load("cuda:1,rocm"));
  EXPECT_EQ(code(), "EH-S09");
  watch.device = "cuda:1,rocm";
  EXPECT_EQ(enginehost_engine_watch(engine_.get(), &watch, nullptr), ENGINEHOST_NOTHING_FITS);
  enginehost_engine_watch(engine_.get(), nullptr, nullptr);
}

TEST_F(ChosenDevices, TheDefaultIsTheDefaultOfEveryCall) {
  ASSERT_EQ(enginehost_engine_set_default_device(engine_.get(), "cpu", nullptr), ENGINEHOST_OK);
  const auto model = load();
  ASSERT_TRUE(model) << said();
  EXPECT_EQ(run(model.get(), Numbers({1, 2}).tensor).device_type, kDLCPU);
  enginehost_check check = ENGINEHOST_CHECK_INIT;
  ASSERT_EQ(enginehost_engine_check(engine_.get(), nullptr, nullptr, &check, nullptr), ENGINEHOST_OK);
  EXPECT_STREQ(check.device, "cpu:0");
  set_variable("DEVICE_BEHAVIOR", "lose");  // cuda:0, which no call uses
  EXPECT_EQ(enginehost_engine_functional(engine_.get(), nullptr, nullptr, nullptr), ENGINEHOST_OK);
  EXPECT_EQ(enginehost_engine_self_test(engine_.get(), 2, nullptr, nullptr), ENGINEHOST_OK);
}

TEST_F(ChosenDevices, TheRequestsDeviceIsTheDefault) {
  enginehost_request wanted = request();
  wanted.device = "cpu";
  engine_ = open(wanted);
  ASSERT_TRUE(engine_) << said();
  EXPECT_EQ(choose(nullptr), "cpu:0");
}

TEST_F(ChosenDevices, TheDefaultIsTheAcceleratorUnlessConfigured) {
  EXPECT_EQ(choose(nullptr), "cuda:0");
  enginehost_error* error = nullptr;
  ASSERT_EQ(enginehost_engine_set_default_device(engine_.get(), "cpu", &error), ENGINEHOST_OK);
  EXPECT_EQ(choose(nullptr), "cpu:0");
  EXPECT_NE(enginehost_engine_set_default_device(engine_.get(), "cuda:9", &error), ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-S09");
  enginehost_error_free(error);
  EXPECT_EQ(choose(nullptr), "cpu:0");  // as it was
  ASSERT_EQ(enginehost_engine_set_default_device(engine_.get(), nullptr, nullptr), ENGINEHOST_OK);
  EXPECT_EQ(choose(nullptr), "cuda:0");
}

TEST_F(ChosenDevices, TheConfigurationNamesAPreference) {
  write_text(configuration_, "{\"repositories_default\": false, \"device\": \"cpu:0,cuda\"}");
  set_variable("ENGINEHOST_NOTICED", "1");  // another environment: the open engine is not shared
  engine_ = open(request());
  remove_variable("ENGINEHOST_NOTICED");
  ASSERT_TRUE(engine_) << said();
  EXPECT_EQ(choose(nullptr), "cpu:0");
}

TEST_F(ChosenDevices, VariablesThatHideDevicesAreReported) {
  set_variable("CUDA_VISIBLE_DEVICES", "0");
  engine_ = open(request());
  ASSERT_TRUE(engine_) << said();
  EXPECT_EQ(choose("cuda:1"), "EH-S09");
  remove_variable("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(said(), HasSubstr("CUDA_VISIBLE_DEVICES is 0"));
}

TEST_F(ChosenDevices, WorkOrReportWhyNot) {
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_engine_functional(engine_.get(), nullptr, nullptr, &error), ENGINEHOST_OK);
  EXPECT_EQ(error, nullptr);
  EXPECT_NE(enginehost_engine_functional(engine_.get(), "cuda:7", nullptr, &error), ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-S09");
  enginehost_error_free(error);
  set_variable("DEVICE_BEHAVIOR", "lose");  // read at each call
  EXPECT_NE(enginehost_engine_functional(engine_.get(), "gpu", nullptr, &error), ENGINEHOST_OK);
  EXPECT_STRNE(enginehost_error_code(error), "");
  enginehost_error_free(error);
  set_variable("DEVICE_BEHAVIOR", "");
}

TEST_F(ChosenDevices, GetCopiesOfTensorsThatAreElsewhere) {
  const Numbers numbers({1, 2, 3, 4});
  EXPECT_EQ(copy(numbers.tensor, "cpu"), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_OK) << said();
  DLManagedTensorVersioned* there = copy(numbers.tensor, "cuda:0");
  ASSERT_NE(there, nullptr) << said();
  EXPECT_EQ(there->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(copy(there->dl_tensor, "gpu"), nullptr);
  DLManagedTensorVersioned* back = copy(there->dl_tensor, "cpu");
  ASSERT_NE(back, nullptr) << said();
  EXPECT_EQ(values_of(back->dl_tensor), numbers.values);
  back->deleter(back);
  there->deleter(there);
  EXPECT_EQ(copy(numbers.tensor, "cuda:1"), nullptr);
  EXPECT_EQ(code(), "EH-S09");
}

// As an engine for GPUs alone, whose outputs could not be read otherwise.
TEST_F(ChosenDevices, OutputsAreCopiedToHostMemoryThatTheEngineLacks) {
  engine_.reset();
  set_variable("DEVICE_BEHAVIOR", "gpu alone");
  engine_ = open(request());
  ASSERT_TRUE(engine_) << said();
  ASSERT_EQ(enginehost_engine_device_count(engine_.get()), 1U);
  const Numbers numbers({1, 2, 3, 4});
  EXPECT_EQ(copy(numbers.tensor, "cpu"), nullptr) << "it lies there already";
  EXPECT_EQ(status_, ENGINEHOST_OK) << said();
  DLManagedTensorVersioned* there = copy(numbers.tensor, "cuda:0");
  ASSERT_NE(there, nullptr) << said();
  for (const char* name : {"cpu", "cpu:0"}) {
    DLManagedTensorVersioned* back = copy(there->dl_tensor, name);
    ASSERT_NE(back, nullptr) << said();
    EXPECT_EQ(back->dl_tensor.device.device_type, kDLCPU);
    EXPECT_EQ(values_of(back->dl_tensor), numbers.values);
    back->deleter(back);
  }
  for (const char* name : {"cpu:1", "cuda:1"}) {
    EXPECT_EQ(copy(there->dl_tensor, name), nullptr) << name;
    EXPECT_EQ(code(), "EH-S09") << name;
  }
  there->dl_tensor.device.device_id = 1;
  EXPECT_EQ(copy(there->dl_tensor, "cpu"), nullptr) << "of another device";
  EXPECT_EQ(code(), "EH-P49");
  there->deleter(there);
}

}  // namespace
}  // namespace enginehost::test
