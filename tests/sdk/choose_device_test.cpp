// The everyday questions of an application: which device, is it working, and is my data there.
#include "tests/sdk/fixture.hpp"
#include "tests/support/played_plugin.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

// The engine of the played plugin offers cuda:0 and cpu:0.
class ChosenDevices : public Sdk {
 protected:
  void SetUp() override {
    set_variable("DEVICE_BEHAVIOUR", "");
    TestBuild build = good_build();
    build.files = {{build.plugin, played_plugin()}};
    publish(build);
    engine_ = open(request());
    ASSERT_TRUE(engine_) << said();
  }

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

  Handle<enginehost_engine> engine_;
};

TEST_F(ChosenDevices, AreNamedByNumberByKindOrByAList) {
  EXPECT_EQ(choose("cuda:0"), "cuda:0");
  EXPECT_EQ(choose("cuda"), "cuda:0");
  EXPECT_EQ(choose("gpu"), "cuda:0");
  EXPECT_EQ(choose("cpu"), "cpu:0");
  EXPECT_EQ(choose("cuda:3,cpu"), "cpu:0");
  EXPECT_EQ(choose("cuda:3, cuda:0"), "cuda:0");
}

TEST_F(ChosenDevices, AnIndexBehindTheLastIsAnErrorAndNeverTheProcessor) {
  EXPECT_EQ(choose("cuda:1"), "EH-S09");
  EXPECT_THAT(said(), HasSubstr("cuda:1 was asked for; the engine offers cuda:0, cpu:0"));
  EXPECT_EQ(choose("metal"), "EH-S09");
  EXPECT_EQ(choose(""), "EH-S09");
}

TEST_F(ChosenDevices, TheDefaultIsTheAcceleratorUnlessToldOtherwise) {
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
  set_variable("ENGINEHOST_NOTICED", "1");  // another environment: nobody shares the engine that is open
  engine_ = open(request());
  remove_variable("ENGINEHOST_NOTICED");
  ASSERT_TRUE(engine_) << said();
  EXPECT_EQ(choose(nullptr), "cpu:0");
}

TEST_F(ChosenDevices, WhatHidesDevicesIsTold) {
  set_variable("CUDA_VISIBLE_DEVICES", "0");
  engine_ = open(request());
  ASSERT_TRUE(engine_) << said();
  EXPECT_EQ(choose("cuda:1"), "EH-S09");
  remove_variable("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(said(), HasSubstr("CUDA_VISIBLE_DEVICES is 0"));
}

TEST_F(ChosenDevices, WorkOrSayWhyNot) {
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_engine_functional(engine_.get(), nullptr, nullptr, &error), ENGINEHOST_OK);
  EXPECT_EQ(error, nullptr);
  EXPECT_NE(enginehost_engine_functional(engine_.get(), "cuda:7", nullptr, &error), ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-S09");
  enginehost_error_free(error);
  set_variable("DEVICE_BEHAVIOUR", "lose");  // asked anew at each call
  EXPECT_NE(enginehost_engine_functional(engine_.get(), "gpu", nullptr, &error), ENGINEHOST_OK);
  EXPECT_STRNE(enginehost_error_code(error), "");
  enginehost_error_free(error);
  set_variable("DEVICE_BEHAVIOUR", "");
}

TEST_F(ChosenDevices, HaveTensorsCopiedToThemUnlessTheyAreThere) {
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

}  // namespace
}  // namespace enginehost::test
