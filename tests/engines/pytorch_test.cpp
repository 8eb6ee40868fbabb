// The PyTorch adapter with the libtorch that it was compiled for.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/engines/elf_names.hpp"
#include "tests/engines/naive.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::Pointwise;

constexpr engine_dtype whole_number = {ENGINE_INT, 64, 1};

class PyTorch : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string command = "'" ENGINEHOST_MAKE_TORCHSCRIPT "' '" + testing::TempDir() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  void SetUp() override { ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message(); }
  static std::string model_file(const std::string& name) { return testing::TempDir() + name + ".pt"; }

  Library library{plugin_path("pytorch")};
  Engine engine{library, testing::TempDir()};
};

TEST(PyTorchFile, ExportsOneSymbolAndIsLinkedToTheReleaseItWasCompiledFor) {
  ElfNames names = read_elf_names(plugin_path("pytorch"));
  EXPECT_THAT(names.exported, ElementsAre(ENGINE_PLUGIN_SYMBOL));
  EXPECT_THAT(names.needed, testing::Contains(testing::StartsWith("libtorch_cpu.so")));
}

TEST_F(PyTorch, ReportsItsIdentityAndDevices) {
  EXPECT_STREQ(library->engine, "pytorch");
  EXPECT_EQ(library->flags & ENGINE_PLUGIN_UNLOADABLE, 0u);
  EXPECT_THAT(engine.fact("version"), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine.devices->info(engine.get(), 0, &info, &call), ENGINE_OK);
  EXPECT_EQ(info.device.type, ENGINE_CPU);
  EXPECT_STREQ(info.kind, "cpu");
  EXPECT_EQ(engine.devices->info(engine.get(), engine.devices->count(engine.get()), &info, &call),
            ENGINE_INVALID);
}

TEST_F(PyTorch, PassesItsSelfTest) {
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine.selftest->run(engine.get(), level, cpu, &call), ENGINE_OK) << call.message();
  }
}

TEST_F(PyTorch, NamesAMissingDeviceAndTheExistingOnes) {
  Call call;
  EXPECT_EQ(engine.selftest->run(engine.get(), 1, {ENGINE_CUDA, 63}, &call), ENGINE_UNAVAILABLE);
  EXPECT_EQ(call.details["device"], "cuda:63");
  EXPECT_THAT(call.message(), HasSubstr("cpu:0"));
}

TEST_F(PyTorch, ComputesTheOperationsEveryEngineHas) {
  Floats a({2, 3}, {1, -2, 3, -4, 5, -6}), b({3, 2}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
  auto compute = [&](const char* name, std::vector<const engine_tensor*> inputs,
                     std::vector<engine_entry> attributes = {}) {
    Results results;
    Call call;
    EXPECT_EQ(engine.run(name, inputs, results, call, attributes), ENGINE_OK)
        << name << ": " << call.message();
    return results.values.empty() ? std::vector<float>{} : results.of(0).as<float>();
  };
  EXPECT_THAT(compute("Add", {&a.tensor, &row.tensor}), ElementsAre(11, 18, 33, 6, 25, 24));
  EXPECT_THAT(compute("Mul", {&a.tensor, &row.tensor}), ElementsAre(10, -40, 90, -40, 100, -180));
  EXPECT_THAT(compute("Relu", {&a.tensor}), ElementsAre(1, 0, 3, 0, 5, 0));
  EXPECT_THAT(compute("MatMul", {&a.tensor, &b.tensor}), ElementsAre(10, 12, -19, -24));
  EXPECT_THAT(compute("Gemm", {&a.tensor, &a.tensor}, {{"transB", "1"}}), ElementsAre(14, -32, -32, 77));
  const std::vector<float> soft = compute("Softmax", {&row.tensor}, {{"axis", "0"}});
  ASSERT_EQ(soft.size(), 3u);
  EXPECT_NEAR(soft[2], 1 / (1 + std::exp(-10.0) + std::exp(-20.0)), 1e-6);
}

TEST_F(PyTorch, ConvolvesWithUnevenPads) {
  // One row of zeros above only: each result is the sum of the 2 x 1 window that ends there.
  Floats image({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}), kernel({1, 1, 2, 1}, {1, 1});
  Results results;
  Call call;
  ASSERT_EQ(engine.run("Conv", {&image.tensor, &kernel.tensor}, results, call,
                       {{"pads", "1,0,0,0"}, {"kernel_shape", "2,1"}}),
            ENGINE_OK)
      << call.message();
  EXPECT_THAT(results.of(0).shape, ElementsAre(1, 1, 3, 2));
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(1, 2, 4, 6, 8, 10));
}

TEST_F(PyTorch, RefusesOperationsWithTheReason) {
  Floats a({2, 3}, {1, 2, 3, 4, 5, 6}), b({2, 2}, {1, 2, 3, 4});
  Results results;
  auto refused = [&](const char* name, std::vector<engine_entry> attributes, engine_status status) {
    Call call;
    EXPECT_EQ(engine.run(name, {&a.tensor, &b.tensor}, results, call, attributes), status) << name;
    return call.message();
  };
  EXPECT_THAT(refused("Nonsense", {}, ENGINE_UNSUPPORTED), HasSubstr("it has Add, Conv"));
  EXPECT_THAT(refused("Add", {}, ENGINE_INVALID), HasSubstr("[2,3] and [2,2]: each pair of sizes"));
  EXPECT_THAT(refused("Relu", {}, ENGINE_INVALID), HasSubstr("takes 1 inputs, not 2"));
  EXPECT_THAT(refused("Gemm", {{"axis", "1"}}, ENGINE_INVALID), HasSubstr("no attribute \"axis\""));
  EXPECT_THAT(refused("Gemm", {{"transB", "yes"}}, ENGINE_INVALID), HasSubstr("\"yes\""));
  EXPECT_TRUE(results.values.empty());
}

// ATen accepts each of these, and some of them as something else.
TEST_F(PyTorch, RefusesWhatOnnxForbids) {
  Floats number({}, {1}), row({1, 3}, {1, 2, 3}), image({1, 1, 4, 4}, std::vector<float>(16, 1)),
      kernel({1, 1, 2, 2}, {1, 1, 1, 1});
  const auto refused = [&](const char* name, std::vector<const engine_tensor*> inputs,
                           engine_entry attribute) {
    Results results;
    Call call;
    EXPECT_EQ(engine.run(name, inputs, results, call, {attribute}), ENGINE_INVALID)
        << name << attribute.value;
    return call.message();
  };
  EXPECT_THAT(refused("Softmax", {&number.tensor}, {"axis", "0"}), HasSubstr("no such axis"));
  for (const char* axis : {"\t1", "\n1", "", " "})
    EXPECT_THAT(refused("Softmax", {&row.tensor}, {"axis", axis}), HasSubstr("not 1 integers"));
  Owned<int32_t> whole({ENGINE_INT, 32, 1}, {1, 3}, {1, 2, 3});
  EXPECT_THAT(refused("Add", {&row.tensor, &whole.tensor}, {"", ""}), HasSubstr("of one type"));
  const std::vector<const engine_tensor*> both = {&image.tensor, &kernel.tensor};
  EXPECT_THAT(refused("Conv", both, {"kernel_shape", "2,3"}), HasSubstr("differs from the weights"));
  // ATen would take the lower 32 bits.
  EXPECT_THAT(refused("Conv", both, {"strides", "9223372036854775807,1"}), HasSubstr("end at 2^31 - 1"));
  EXPECT_THAT(refused("Conv", both, {"dilations", "4294967297,1"}), HasSubstr("end at 2^31 - 1"));
  EXPECT_THAT(refused("Conv", both, {"pads", "-1,0,0,0"}), HasSubstr("pads at 0"));
  EXPECT_THAT(refused("Conv", both, {"dilations", "4,1"}), HasSubstr("larger than the padded image"));
  EXPECT_THAT(refused("Conv", both, {"auto_pad", "same_upper"}), HasSubstr("auto_pad is NOTSET"));
  EXPECT_THAT(refused("Conv", {&image.tensor, &kernel.tensor, &row.tensor}, {"group", "1"}),
              HasSubstr("one bias"));
}

TEST_F(PyTorch, HasNoCodeForSomeTypes) {
  Owned<uint16_t> halves({ENGINE_FLOAT, 16, 1}, {2, 2}, {0, 0, 0, 0});
  Results results;
  Call call;
  const engine_status status = engine.run("MatMul", {&halves.tensor, &halves.tensor}, results, call);
  EXPECT_TRUE(status == ENGINE_UNSUPPORTED || status == ENGINE_OK) << status << call.message();
}

TEST_F(PyTorch, HasNoConvWithoutChannelsOrFeatures) {
  Floats image({1, 0, 4, 4}, {}), channels({3, 0, 2, 2}, {}), full({1, 1, 4, 4}, std::vector<float>(16, 1)),
      features({0, 1, 2, 2}, {});
  Results results;
  Call first, second;
  EXPECT_EQ(engine.run("Conv", {&image.tensor, &channels.tensor}, results, first), ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine.run("Conv", {&full.tensor, &features.tensor}, results, second), ENGINE_UNSUPPORTED);
  EXPECT_TRUE(results.values.empty());
}

TEST_F(PyTorch, RunsAModelWithAndWithoutItsOptionalInput) {
  Model model(engine, "torchscript", model_file("linear"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  const engine_function& forward = model.function();
  EXPECT_STREQ(forward.name, "forward");
  ASSERT_EQ(forward.input_count, 2u);
  EXPECT_STREQ(forward.inputs[0].name, "x");
  EXPECT_EQ(forward.inputs[0].ndim, -1);
  EXPECT_STREQ(forward.inputs[1].name, "scale");
  EXPECT_NE(forward.inputs[1].flags & ENGINE_PORT_OPTIONAL, 0u);
  Floats x({3}, {1, 2, 3}), scale({}, {10});
  Results plain, scaled;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, plain, call), ENGINE_OK) << call.message();
  EXPECT_THAT(plain.of(0).as<float>(), ElementsAre(3, 5, 7));
  ASSERT_EQ(model.run({{0, &x.tensor}, {1, &scale.tensor}}, scaled, call), ENGINE_OK) << call.message();
  EXPECT_THAT(scaled.of(0).as<float>(), ElementsAre(11, 21, 31));
}

TEST_F(PyTorch, ReadsAModelFromMemory) {
  std::ifstream file(model_file("linear"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  Model model(engine, "torchscript", bytes, true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({1}, {4});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(9));
}

engine_status run_function(const Engine& engine, const Model& model, const std::string& name,
                           std::vector<engine_value> values, Results& results, Call& call) {
  engine_run what{};
  what.size = sizeof what;
  for (uint32_t i = 0; i < model.info().function_count; i++) {
    if (name == model.info().functions[i].name) what.function = i;
  }
  EXPECT_EQ(name, model.info().functions[what.function].name);
  what.inputs = values.data();
  what.input_count = values.size();
  return engine.models->run(model.get(), &what, &results, &call);
}

TEST_F(PyTorch, GivesTheElementsOfATupleAsOutputs) {
  Model model(engine, "torchscript", model_file("linear"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({3}, {1, 2, 3});
  Owned<int64_t> parts(whole_number, {}, {1});
  Results results;
  Call call;
  ASSERT_EQ(run_function(engine, model, "halves",
                         {{0, 0, nullptr, &x.tensor}, {1, 0, nullptr, &parts.tensor}}, results, call),
            ENGINE_OK)
      << call.message();
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(1));
  EXPECT_THAT(results.of(1).as<float>(), ElementsAre(2, 3));
}

TEST_F(PyTorch, TakesAndGivesListsAndDictionaries) {
  Model model(engine, "torchscript", model_file("collections"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  EXPECT_NE(model.function().inputs[0].flags & ENGINE_PORT_REPEATED, 0u);
  Floats one({2}, {1, 2}), two({1}, {4}), a({1}, {9}), b({1}, {5});
  Results results;
  Call call;
  ASSERT_EQ(run_function(engine, model, "forward",
                         {{0, 0, nullptr, &one.tensor},
                          {0, 0, nullptr, &two.tensor},
                          {1, 0, "a", &a.tensor},
                          {1, 0, "b", &b.tensor}},
                         results, call),
            ENGINE_OK)
      << call.message();
  ASSERT_EQ(results.values.size(), 2u);
  for (const auto& value : results.values)
    EXPECT_THAT(value->as<float>(), ElementsAre(value->name == "total" ? 7.0f : 4.0f)) << value->name;
}

TEST_F(PyTorch, NamesTheValuesInsideOfOthers) {
  Model model(engine, "torchscript", model_file("collections"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({2}, {1, 2});
  Results results;
  Call call;
  ASSERT_EQ(run_function(engine, model, "nested", {{0, 0, nullptr, &x.tensor}}, results, call), ENGINE_OK)
      << call.message();
  std::vector<std::string> names;
  for (const auto& value : results.values) names.push_back(std::to_string(value->output) + "/" + value->name);
  EXPECT_THAT(names, ElementsAre("0/", "1/0.0", "1/0.1"));
}

TEST_F(PyTorch, TakesNumbersAndRowsOfThemAsTensors) {
  Model model(engine, "torchscript", model_file("collections"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({6}, {1, 2, 3, 4, 5, 6}), real({}, {1.5});
  Owned<int64_t> sizes(whole_number, {2}, {2, 3});
  Owned<uint8_t> flip({ENGINE_BOOL, 8, 1}, {}, {1});
  Results results;
  Call call;
  ASSERT_EQ(run_function(
                engine, model, "shapes",
                {{0, 0, nullptr, &x.tensor}, {1, 0, nullptr, &sizes.tensor}, {2, 0, nullptr, &flip.tensor}},
                results, call),
            ENGINE_OK)
      << call.message();
  EXPECT_THAT(results.of(0).shape, ElementsAre(3, 2));
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(1, 4, 2, 5, 3, 6)) << "compact, though it was a view";
  Call refused;
  EXPECT_EQ(
      run_function(engine, model, "shapes",
                   {{0, 0, nullptr, &x.tensor}, {1, 0, nullptr, &real.tensor}, {2, 0, nullptr, &flip.tensor}},
                   results, refused),
      ENGINE_INVALID);
  EXPECT_THAT(refused.message(), HasSubstr("\"sizes\""));
}

TEST_F(PyTorch, ResultsDoNotChangeWithTheModelsState) {
  Model model(engine, "torchscript", model_file("counter"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  EXPECT_EQ(model.info().flags & ENGINE_MODEL_CONCURRENT, 0u);
  Floats x({2}, {1, 2});
  Results first, second;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, first, call), ENGINE_OK) << call.message();
  ASSERT_EQ(model.run({{0, &x.tensor}}, second, call), ENGINE_OK) << call.message();
  EXPECT_THAT(first.of(0).as<float>(), ElementsAre(1, 2));
  EXPECT_THAT(second.of(0).as<float>(), ElementsAre(2, 4));
}

TEST_F(PyTorch, NeverWritesToAnInput) {
  Model model(engine, "torchscript", model_file("overwrites"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({2}, {1, 2});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(0, 0));
  EXPECT_THAT(x.data, ElementsAre(1, 2));
}

TEST_F(PyTorch, AResultThatIsAnInputOutlivesIt) {
  Model model(engine, "torchscript", model_file("same"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Results results;
  Call call;
  {
    Floats x({2}, {1, 2});
    ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
    EXPECT_NE(results.of(0).tensor.data, x.tensor.data);
  }
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(1, 2));
}

// libtorch conjugates and negates by a flag on the tensor, which readers of its memory would not see.
TEST_F(PyTorch, GivesConjugatedAndNegatedValuesAsTheyAre) {
  Model model(engine, "torchscript", model_file("marked"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({2}, {1, 5});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  ASSERT_EQ(results.values.size(), 3u);
  for (uint32_t output : {0u, 2u}) {
    const auto* numbers = static_cast<const float*>(results.of(output).tensor.data);
    EXPECT_EQ(results.of(output).tensor.dtype.code, ENGINE_COMPLEX);
    EXPECT_THAT(std::vector<float>(numbers, numbers + 4), ElementsAre(1, -2, 5, -6));
  }
  EXPECT_THAT(results.of(1).as<float>(), ElementsAre(-2, -6));
}

TEST_F(PyTorch, RunsModelsInEvaluationMode) {
  Model model(engine, "torchscript", model_file("training"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({1}, {3});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(3));
}

TEST_F(PyTorch, PassesOnTheExceptionOfAModel) {
  Model model(engine, "torchscript", model_file("raises"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats bad({1}, {-3}), good({1}, {3});
  Results results;
  Call call, next;
  EXPECT_EQ(model.run({{0, &bad.tensor}}, results, call), ENGINE_INVALID);
  EXPECT_THAT(call.message(), HasSubstr("the sum is negative"));
  EXPECT_EQ(model.run({{0, &good.tensor}}, results, next), ENGINE_OK) << next.message();
}

TEST_F(PyTorch, RefusesInputsWithTheirNames) {
  Model model(engine, "torchscript", model_file("linear"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Results results;
  Call missing, unknown, twice;
  Floats x({1}, {3});
  EXPECT_EQ(model.run({}, results, missing), ENGINE_INVALID);
  EXPECT_EQ(missing.details["input"], "x");
  EXPECT_EQ(model.run({{7, &x.tensor}}, results, unknown), ENGINE_INVALID);
  EXPECT_THAT(unknown.message(), HasSubstr("number 7"));
  EXPECT_EQ(model.run({{0, &x.tensor}, {0, &x.tensor}}, results, twice), ENGINE_INVALID);
  EXPECT_THAT(twice.message(), HasSubstr("2 were given"));
}

TEST_F(PyTorch, RefusesModelsWithTheReason) {
  auto refused = [&](const char* format, const std::string& file, engine_status status,
                     std::vector<engine_entry> options = {}, engine_device device = cpu) {
    Model model(engine, format, file, false, std::move(options), device);
    EXPECT_EQ(model.status, status) << model.call.message();
    return model.call.message();
  };
  const std::string linear = model_file("linear"), cut = testing::TempDir() + "cut.pt";
  std::filesystem::copy_file(linear, cut, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  EXPECT_THAT(refused("onnx", linear, ENGINE_UNSUPPORTED), HasSubstr("\"onnx\""));
  EXPECT_THAT(refused("torchscript", "/nowhere.pt", ENGINE_INVALID), HasSubstr("/nowhere.pt"));
  EXPECT_THAT(refused("torchscript", cut, ENGINE_CORRUPT), HasSubstr("cannot read the model"));
  EXPECT_THAT(refused("torchscript", model_file("text"), ENGINE_UNSUPPORTED), HasSubstr("\"x\""));
  EXPECT_THAT(refused("torchscript", linear, ENGINE_INVALID, {{"pytorch.color", "red"}}),
              HasSubstr("pytorch.color"));
  EXPECT_THAT(refused("torchscript", linear, ENGINE_UNAVAILABLE, {}, {ENGINE_CUDA, 63}),
              HasSubstr("cuda:63"));
}

TEST_F(PyTorch, StopsBeforeACanceledRun) {
  Model model(engine, "torchscript", model_file("linear"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({1}, {3});
  Results results;
  Call call;
  call.canceled = true;
  EXPECT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_CANCELLED);
  EXPECT_TRUE(results.values.empty());
}

TEST_F(PyTorch, ChecksTheOptionsOfARun) {
  Model model(engine, "torchscript", model_file("linear"), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  expect_options_of_runs_looked_at(model, Floats({1}, {3}).tensor);
}

TEST_F(PyTorch, RefusesOptionsItDoesNotKnow) {
  Engine refused(library, testing::TempDir(), {{"pytorch.color", "red"}});
  EXPECT_EQ(refused.status, ENGINE_INVALID);
  EXPECT_EQ(refused.call.details["option"], "pytorch.color");
  Engine threads(library, testing::TempDir(), {{"threads", "many"}});
  EXPECT_EQ(threads.status, ENGINE_INVALID);
  EXPECT_THAT(threads.call.message(), HasSubstr("\"many\""));
}

}  // namespace
}  // namespace enginehost::engines::tests
