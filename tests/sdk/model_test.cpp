// Models through the C API, with DLPack tensors.
#include <cmath>
#include <thread>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#include "tests/sdk/fixture.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class SdkModel : public Sdk {
 protected:
  void SetUp() override {
    publish();
    engine_ = open(request());
    ASSERT_NE(engine_, nullptr) << said();
    enginehost_model* model = nullptr;
    enginehost_error* error = nullptr;
    ASSERT_EQ(
        enginehost_model_load(engine_.get(), demo_model().c_str(), nullptr, nullptr, nullptr, &model, &error),
        ENGINEHOST_OK)
        << enginehost_error_text(error);
    model_.reset(model);
  }

  Handle<enginehost_outputs> run(const enginehost_input* inputs, std::size_t count) {
    enginehost_outputs* outputs = nullptr;
    enginehost_error* error = nullptr;
    status_ = enginehost_model_run(model_.get(), inputs, count, nullptr, &outputs, &error);
    error_.reset(error);
    return Handle<enginehost_outputs>(outputs);
  }

  Handle<enginehost_engine> engine_;
  Handle<enginehost_model> model_;
  Numbers x_{{1, 2, -1, 4}};
  const std::vector<float> y_ = {2, 4, 0, 1, 8, 2};
};

TEST_F(SdkModel, PortsAreDescribed) {
  ASSERT_EQ(enginehost_model_input_count(model_.get()), 1u);
  ASSERT_EQ(enginehost_model_output_count(model_.get()), 1u);
  enginehost_port port{};
  port.size = sizeof port;
  ASSERT_EQ(enginehost_model_input(model_.get(), 0, &port, nullptr), ENGINEHOST_OK);
  EXPECT_STREQ(port.name, "x");
  EXPECT_THAT(port.type, HasSubstr("float32"));
  ASSERT_EQ(port.ndim, 2);
  EXPECT_EQ(port.shape[0], -1);
  EXPECT_EQ(port.shape[1], 2);
  EXPECT_EQ(port.dtype_bits, 32);
  ASSERT_EQ(enginehost_model_output(model_.get(), 0, &port, nullptr), ENGINEHOST_OK);
  EXPECT_STREQ(port.name, "y");
  EXPECT_EQ(enginehost_model_output(model_.get(), 1, &port, nullptr), ENGINEHOST_INVALID);
}

TEST_F(SdkModel, ARunReturnsTheAnswer) {
  const enginehost_input input = {"x", &x_.tensor};
  const auto outputs = run(&input, 1);
  ASSERT_NE(outputs, nullptr) << said();
  ASSERT_EQ(enginehost_outputs_count(outputs.get()), 1u);
  EXPECT_STREQ(enginehost_outputs_name(outputs.get(), 0), "y");
  const auto* y = static_cast<const DLTensor*>(enginehost_outputs_tensor(outputs.get(), 0));
  ASSERT_NE(y, nullptr);
  ASSERT_EQ(y->ndim, 2);
  EXPECT_EQ(y->shape[0], 2);
  EXPECT_EQ(y->shape[1], 3);
  EXPECT_EQ(values_of(*y), y_);
  EXPECT_EQ(x_.values, (std::vector<float>{1, 2, -1, 4}));
}

TEST_F(SdkModel, TheOnlyInputNeedsNoName) {
  const enginehost_input input = {nullptr, &x_.tensor};
  EXPECT_NE(run(&input, 1), nullptr) << said();
}

TEST_F(SdkModel, ATensorMayBeginInsideItsMemory) {
  Numbers longer({9, 9, 1, 2, -1, 4});
  longer.tensor.byte_offset = 2 * sizeof(float);
  longer.shape[0] = 2;
  const enginehost_input input = {"x", &longer.tensor};
  const auto outputs = run(&input, 1);
  ASSERT_NE(outputs, nullptr) << said();
  EXPECT_EQ(values_of(*static_cast<const DLTensor*>(enginehost_outputs_tensor(outputs.get(), 0))), y_);
}

TEST_F(SdkModel, CompactStridesAreAccepted) {
  std::int64_t strides[] = {2, 1};
  x_.tensor.strides = strides;
  const enginehost_input input = {"x", &x_.tensor};
  EXPECT_NE(run(&input, 1), nullptr) << said();
  strides[0] = 4;
  EXPECT_EQ(run(&input, 1), nullptr);
  EXPECT_EQ(code(), "EH-P44") << said();
}

TEST_F(SdkModel, ATakenOutputOutlivesTheOutputsAndTheModel) {
  const enginehost_input input = {"x", &x_.tensor};
  auto outputs = run(&input, 1);
  ASSERT_NE(outputs, nullptr) << said();
  DLManagedTensorVersioned* taken = enginehost_outputs_take(outputs.get(), 0);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->major, 1u);
  // An output is taken once; only its name remains.
  EXPECT_EQ(enginehost_outputs_take(outputs.get(), 0), nullptr);
  EXPECT_EQ(enginehost_outputs_tensor(outputs.get(), 0), nullptr);
  EXPECT_STREQ(enginehost_outputs_name(outputs.get(), 0), "y");
  outputs.reset();
  model_.reset();
  EXPECT_EQ(values_of(taken->dl_tensor), y_);
  taken->deleter(taken);
}

TEST_F(SdkModel, ATakenOutputMayBeReleasedBeforeTheOutputs) {
  const enginehost_input input = {"x", &x_.tensor};
  const auto outputs = run(&input, 1);
  ASSERT_NE(outputs, nullptr) << said();
  DLManagedTensorVersioned* taken = enginehost_outputs_take(outputs.get(), 0);
  ASSERT_NE(taken, nullptr);
  taken->deleter(taken);
  EXPECT_EQ(enginehost_outputs_count(outputs.get()), 1u);
  EXPECT_EQ(enginehost_outputs_take(outputs.get(), 5), nullptr);
}

TEST_F(SdkModel, WrongInputsAreReportedByName) {
  const enginehost_input unknown = {"z", &x_.tensor};
  EXPECT_EQ(run(&unknown, 1), nullptr);
  EXPECT_EQ(code(), "EH-P42") << said();
  EXPECT_THAT(said(), HasSubstr("z"));
  EXPECT_EQ(run(nullptr, 0), nullptr);
  EXPECT_EQ(code(), "EH-P43") << said();
  EXPECT_THAT(said(), HasSubstr("x"));
  x_.tensor.dtype = {kDLInt, 64, 1};
  const enginehost_input mistyped = {"x", &x_.tensor};
  EXPECT_EQ(run(&mistyped, 1), nullptr);
  EXPECT_EQ(code(), "EH-P44") << said();
  EXPECT_THAT(said(), HasSubstr("int64"));
  const enginehost_input empty = {"x", nullptr};
  EXPECT_EQ(run(&empty, 1), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_INVALID);
}

TEST_F(SdkModel, AnInputOnAnotherDeviceIsReportedWithBothDevices) {
  x_.tensor.device = {kDLCUDA, 1};  // never touched
  const enginehost_input input = {"x", &x_.tensor};
  EXPECT_EQ(run(&input, 1), nullptr);
  EXPECT_EQ(code(), "EH-P49");
  EXPECT_THAT(said(), HasSubstr("x is on cuda:1, but the model computes on cpu:0"));
}

TEST_F(SdkModel, AMissingOrInvalidModelIsReported) {
  enginehost_model* model = nullptr;
  enginehost_error* error = nullptr;
  EXPECT_NE(
      enginehost_model_load(engine_.get(), "/nonexistent/a.model", nullptr, nullptr, nullptr, &model, &error),
      ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-P47");
  enginehost_error_free(error);
  write_text(folder_ / "broken.model", "enginehost-reference 1\nthis is no statement\n");
  EXPECT_NE(enginehost_model_load(engine_.get(), path_text(folder_ / "broken.model").c_str(), nullptr,
                                  nullptr, nullptr, &model, &error),
            ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-E01");
  EXPECT_THAT(enginehost_error_text(error), HasSubstr("Line 2"));
  EXPECT_EQ(model, nullptr);
  enginehost_error_free(error);
}

TEST_F(SdkModel, AnUnsupportedCallNamesTheEngine) {
  enginehost_model* model = nullptr;
  enginehost_error* error = nullptr;
  write_text(folder_ / "some.model", "");
  EXPECT_NE(enginehost_model_load(engine_.get(), path_text(folder_ / "some.model").c_str(), "onnx", nullptr,
                                  nullptr, &model, &error),
            ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-S18");
  EXPECT_THAT(enginehost_error_text(error), HasSubstr("engine-info NAME lists the capabilities"));
  enginehost_error_free(error);
}

#ifndef _WIN32
// Opening it would wait for a writer, and no cancel ends that wait.
TEST_F(SdkModel, ANamedPipeIsNoModel) {
  const std::string pipe = path_text(folder_ / "pipe.model");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  enginehost_model* model = nullptr;
  enginehost_error* error = nullptr;
  EXPECT_NE(enginehost_model_load(engine_.get(), pipe.c_str(), nullptr, nullptr, nullptr, &model, &error),
            ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-P47");
  EXPECT_THAT(enginehost_error_text(error), HasSubstr(pipe + " cannot be read: it is a named pipe"));
  enginehost_error_free(error);
}
#endif

TEST_F(SdkModel, ACanceledRunEndsAsInterrupted) {
  const Handle<enginehost_cancel> cancel(enginehost_cancel_new());
  enginehost_cancel_now(cancel.get());
  const enginehost_input input = {"x", &x_.tensor};
  enginehost_outputs* outputs = nullptr;
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_model_run(model_.get(), &input, 1, cancel.get(), &outputs, &error),
            ENGINEHOST_INTERRUPTED)
      << enginehost_error_text(error);
  EXPECT_EQ(outputs, nullptr);
  enginehost_error_free(error);
}

TEST_F(Sdk, TwoThreadsOpenAndRunTwoEnginesAtTheSameTime) {
  publish();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([this] {
      const enginehost_request own = request();
      enginehost_engine* engine = nullptr;
      ASSERT_EQ(enginehost_open(&own, &engine, nullptr), ENGINEHOST_OK);
      enginehost_model* model = nullptr;
      ASSERT_EQ(
          enginehost_model_load(engine, demo_model().c_str(), nullptr, nullptr, nullptr, &model, nullptr),
          ENGINEHOST_OK);
      Numbers x({1, 2, -1, 4});
      for (int repeat = 0; repeat < 50; ++repeat) {
        const enginehost_input input = {"x", &x.tensor};
        enginehost_outputs* outputs = nullptr;
        ASSERT_EQ(enginehost_model_run(model, &input, 1, nullptr, &outputs, nullptr), ENGINEHOST_OK);
        EXPECT_EQ(values_of(*static_cast<const DLTensor*>(enginehost_outputs_tensor(outputs, 0))),
                  (std::vector<float>{2, 4, 0, 1, 8, 2}));
        enginehost_outputs_free(outputs);
      }
      enginehost_model_free(model);
      enginehost_engine_free(engine);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace enginehost::test
