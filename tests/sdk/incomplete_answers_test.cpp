// Engines that return ENGINE_OK with no result or half of one: the application gets an error and goes on.
#include "tests/sdk/played_engine.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class IncompleteAnswers : public PlayedEngine {
 protected:
  static void behave(const char* how) { set_variable("DEVICE_BEHAVIOR", how); }
  // The reported cause for a model that cannot be used; empty when it loads.
  std::string refused(const char* behavior) {
    behave(behavior);
    const auto model = load("cpu");
    return model ? "" : code() + ": " + enginehost_error_cause(error_.get());
  }
  std::string refused_run(enginehost_model* model, const char* behavior) {
    behave(behavior);
    const Numbers numbers({1, 2});
    return run(model, numbers.tensor).ran ? "" : code() + ": " + enginehost_error_cause(error_.get());
  }
};

TEST_F(IncompleteAnswers, OfAModelAreReportedWhenItIsLoaded) {
  EXPECT_EQ(refused("no model"), "EH-E01: the engine reports: load() succeeded but gave no model");
  EXPECT_EQ(refused("no description"),
            "EH-E01: the engine reports: info() succeeded but gave no description of the model");
  EXPECT_EQ(refused("no function"),
            "EH-E01: the engine reports: info() succeeded but gave no function of the model");
  EXPECT_EQ(refused("no name"),
            "EH-E01: the engine reports: info() succeeded but gave no name of the model's input 0");
  EXPECT_EQ(refused("no shape"),
            "EH-E01: the engine reports: info() succeeded but gave no shape of the model's input x, whose "
            "rank is 2");
  EXPECT_EQ(refused("rank -3"),
            "EH-E01: the engine reports: info() succeeded but gave the rank -3 for the model's output seen");
  EXPECT_EQ(refused(""), "");
}

TEST_F(IncompleteAnswers, OfARunAreReportedAndTheModelStaysUsable) {
  const auto model = load("cpu");
  ASSERT_TRUE(model) << said();
  EXPECT_EQ(refused_run(model.get(), "no output"),
            "EH-E01: the engine reports: run() succeeded but gave no output seen");
  EXPECT_EQ(refused_run(model.get(), "output NULL"),
            "EH-E01: the engine reports: run() succeeded but gave no tensor");
  EXPECT_EQ(refused_run(model.get(), "output of rank -5"),
            "EH-E01: the engine reports: run() succeeded but gave a tensor whose ndim is -5");
  EXPECT_EQ(refused_run(model.get(), "output without shape"),
            "EH-E01: the engine reports: run() succeeded but gave a tensor whose shape is NULL and whose "
            "ndim is 1");
  EXPECT_EQ(refused_run(model.get(), "output with gaps"),
            "EH-E01: the engine reports: run() succeeded but gave a tensor with gaps between its elements, "
            "or not in "
            "row-major order");
  EXPECT_EQ(refused_run(model.get(), "output elsewhere"),
            "EH-E01: the engine reports: run() succeeded but gave a tensor on cuda:0, where host memory was "
            "requested");
  EXPECT_EQ(refused_run(model.get(), ""), "");
}

// Names are cut in messages, like other texts of a plugin; they are not cut for look-ups.
TEST_F(IncompleteAnswers, LongNamesAreCutInMessages) {
  constexpr std::size_t sane = std::size_t{64} << 10;
  behave("long name");
  const auto model = load("cpu");
  ASSERT_TRUE(model) << said();
  enginehost_port port{};
  port.size = sizeof port;
  ASSERT_EQ(enginehost_model_input(model.get(), 0, &port, nullptr), ENGINEHOST_OK);
  EXPECT_LT(std::string(port.type).size(), sane);
  const std::string name = port.name;
  ASSERT_GT(name.size(), sane);
  const Numbers numbers({1, 2});
  DLTensor flat = numbers.tensor;
  flat.ndim = 1;
  const auto reported = [&](const char* input, const DLTensor& tensor, std::size_t count) {
    const enginehost_input inputs[] = {{input, &tensor}, {input, &tensor}};
    enginehost_outputs* outputs = nullptr;
    enginehost_error* error = nullptr;
    enginehost_model_run(model.get(), inputs, count, nullptr, &outputs, &error);
    const Handle<enginehost_outputs> owned(outputs);
    error_.reset(error);
    if (error != nullptr) {
      EXPECT_LT(std::string(enginehost_error_json(error)).size(), 4 * sane) << code();
    }
    return error != nullptr ? code() : std::string();
  };
  EXPECT_EQ(reported(name.c_str(), numbers.tensor, 1), "");
  EXPECT_EQ(reported("x", numbers.tensor, 1), "EH-P42");
  EXPECT_EQ(reported(name.c_str(), numbers.tensor, 0), "EH-P43");
  EXPECT_EQ(reported(name.c_str(), flat, 1), "EH-P44");
  EXPECT_EQ(reported(name.c_str(), numbers.tensor, 2), "EH-P45");
  behave("long name, no output");
  EXPECT_EQ(reported(name.c_str(), numbers.tensor, 1), "EH-E01");
}

TEST_F(IncompleteAnswers, AnOutputThatCannotBeReleasedStillHasADeleter) {
  const auto model = load("cpu");
  ASSERT_TRUE(model) << said();
  behave("output without release");
  const Numbers numbers({1, 2});
  const enginehost_input input = {"x", &numbers.tensor};
  enginehost_outputs* raw = nullptr;
  ASSERT_EQ(enginehost_model_run(model.get(), &input, 1, nullptr, &raw, nullptr), ENGINEHOST_OK);
  const Handle<enginehost_outputs> outputs(raw);
  DLManagedTensorVersioned* const taken = enginehost_outputs_take(raw, 0);
  ASSERT_NE(taken, nullptr);
  ASSERT_NE(taken->deleter, nullptr);
  taken->deleter(taken);
}

TEST_F(IncompleteAnswers, OfATensorsCopyAreReported) {
  behave("no tensor");
  const Numbers numbers({1, 2});
  DLManagedTensorVersioned* out = nullptr;
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_tensor_copy(engine_.get(), &numbers.tensor, "cuda:0", nullptr, &out, &error),
            ENGINEHOST_NOT_LOADED);
  error_.reset(error);
  EXPECT_THAT(said(), HasSubstr("create() succeeded but gave no tensor"));
  enginehost_check check = ENGINEHOST_CHECK_INIT;
  EXPECT_EQ(enginehost_engine_check(engine_.get(), "cuda:0", nullptr, &check, nullptr),
            ENGINEHOST_NOT_LOADED);
}

}  // namespace
}  // namespace enginehost::test
