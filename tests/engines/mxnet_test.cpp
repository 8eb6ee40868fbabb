// The MXNet adapter with the published library, fetched through pip.
#include <signal.h>

#include <filesystem>

#include "tests/engines/fetched.hpp"
#include "tests/engines/mxnet_models.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Mxnet : public testing::Test {
 protected:
  void SetUp() override {
    const Fetched fetched = fetch("mxnet", "1.9.1", "mxnet/lib*.so*");
    if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
    root = fetched.folder;
    engine = std::make_unique<Engine>(library, root);
    ASSERT_EQ(engine->status, ENGINE_OK) << engine->call.message();
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override {
    engine.reset();
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }
  Library library{plugin_path("mxnet")};
  std::string root, folder;
  std::unique_ptr<Engine> engine;
};

TEST_F(Mxnet, ReportsTheLoadedVersionAndFile) {
  EXPECT_EQ(engine->fact("version"), "1.9.1");
  EXPECT_EQ(engine->fact("library"), root + "/mxnet/libmxnet.so");
}

// The library installs its own handlers for these signals when it is loaded.
TEST_F(Mxnet, LeavesTheHostsSignalHandlers) {
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction now {};
    ASSERT_EQ(sigaction(number, nullptr, &now), 0);
    EXPECT_EQ(now.sa_handler, SIG_DFL) << number;
  }
}

TEST_F(Mxnet, PassesItsSelfTest) {
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cpu, &call), ENGINE_OK) << call.message();
  }
  Call call;
  EXPECT_EQ(engine->selftest->run(engine->get(), 2, {ENGINE_CUDA, 0}, &call), ENGINE_INVALID);
}

TEST_F(Mxnet, ComputesItsOperationsAsOnnxDefinesThem) {
  Floats a({2, 3}, {1, -2, 3, -4, 5, -6}), b({3, 2}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
  Floats squares({3}, {1, 4, 9}), two({}, {2});
  auto compute = [&](const char* name, std::vector<const engine_tensor*> inputs,
                     std::vector<engine_entry> attributes = {}) {
    Results results;
    Call call;
    EXPECT_EQ(engine->run(name, inputs, results, call, attributes), ENGINE_OK)
        << name << ": " << call.message();
    return results.values.empty() ? std::vector<float>{} : results.of(0).as<float>();
  };
  for (int round = 0; round < 2; round++) {  // the second time from the cache
    EXPECT_THAT(compute("Add", {&a.tensor, &row.tensor}), ElementsAre(11, 18, 33, 6, 25, 24));
    EXPECT_THAT(compute("Sub", {&a.tensor, &a.tensor}), ElementsAre(0, 0, 0, 0, 0, 0));
    EXPECT_THAT(compute("Mul", {&a.tensor, &a.tensor}), ElementsAre(1, 4, 9, 16, 25, 36));
    EXPECT_THAT(compute("Relu", {&a.tensor}), ElementsAre(1, 0, 3, 0, 5, 0));
    EXPECT_THAT(compute("MatMul", {&a.tensor, &b.tensor}), ElementsAre(10, 12, -19, -24));
    EXPECT_THAT(compute("Sqrt", {&squares.tensor}), ElementsAre(1, 2, 3));
    EXPECT_THAT(compute("Mul", {&a.tensor, &two.tensor}), ElementsAre(2, -4, 6, -8, 10, -12));
    EXPECT_THAT(compute("Mul", {&two.tensor, &two.tensor}), ElementsAre(4));
    EXPECT_THAT(compute("Softmax", {&a.tensor}, {{"axis", "0"}}).size(), 6u);
  }
}

// MXNet has no axes of size 0; their results by ONNX need no computation.
TEST_F(Mxnet, ComputesOperationsWithoutElements) {
  Floats none({0, 3}, {}), row({3}, {1, 2, 3}), four({4}, {1, 2, 3, 4}), tall({2, 0}, {});
  Results sum, product, zeros, nothing;
  Call call, misfit;
  ASSERT_EQ(engine->run("Add", {&none.tensor, &row.tensor}, sum, call), ENGINE_OK) << call.message();
  EXPECT_THAT(sum.of(0).shape, ElementsAre(0, 3));
  ASSERT_EQ(engine->run("MatMul", {&tall.tensor, &none.tensor}, zeros, call), ENGINE_OK) << call.message();
  EXPECT_THAT(zeros.of(0).as<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
  ASSERT_EQ(engine->run("Relu", {&none.tensor}, product, call), ENGINE_OK) << call.message();
  EXPECT_THAT(product.of(0).shape, ElementsAre(0, 3));
  EXPECT_EQ(engine->run("Add", {&none.tensor, &four.tensor}, nothing, misfit), ENGINE_INVALID);
}

// MXNet reports these as failures of its own checks, or computes something.
TEST_F(Mxnet, RefusesWhatOnnxForbidsAndUnsupportedTypes) {
  Floats number({}, {1}), a({2, 3}, {1, 2, 3, 4, 5, 6});
  Owned<int32_t> whole({ENGINE_INT, 32, 1}, {2, 2}, {1, 2, 3, 4});
  Results results;
  const auto status = [&](const char* name, std::vector<const engine_tensor*> inputs, const char* axis) {
    Call call;
    std::vector<engine_entry> attributes;
    if (axis != nullptr) attributes.push_back({"axis", axis});
    return engine->run(name, std::move(inputs), results, call, attributes);
  };
  EXPECT_EQ(status("Softmax", {&number.tensor}, nullptr), ENGINE_INVALID);
  for (const char* axis : {"2", "-3", "\t1", "", "1,0"})
    EXPECT_EQ(status("Softmax", {&a.tensor}, axis), ENGINE_INVALID) << axis;
  EXPECT_EQ(status("Softmax", {&whole.tensor}, nullptr), ENGINE_UNSUPPORTED);
  EXPECT_EQ(status("MatMul", {&whole.tensor, &whole.tensor}, nullptr), ENGINE_UNSUPPORTED);
  EXPECT_TRUE(results.values.empty());
  EXPECT_EQ(status("Softmax", {&a.tensor}, " 1 "), ENGINE_OK);
}

TEST_F(Mxnet, NamesAnOperationItCannotCompute) {
  Floats a({2, 3}, std::vector<float>(6)), cube({1, 2, 3}, std::vector<float>(6));
  engine_tensor far = a.tensor;
  far.device = {ENGINE_CUDA, 0};
  Results results;
  Call unknown, misfit, attribute, device, ranks;
  EXPECT_EQ(engine->run("Transmogrify", {&a.tensor}, results, unknown), ENGINE_UNSUPPORTED);
  EXPECT_EQ(unknown.details["operation"], "Transmogrify");
  EXPECT_EQ(engine->run("MatMul", {&a.tensor, &a.tensor}, results, misfit), ENGINE_INVALID);
  EXPECT_EQ(engine->run("Add", {&a.tensor, &a.tensor}, results, attribute, {{"color", "1"}}), ENGINE_INVALID);
  EXPECT_EQ(engine->run("Add", {&a.tensor, &far}, results, device), ENGINE_INVALID);
  EXPECT_THAT(device.message(), HasSubstr("cuda:0"));
  EXPECT_EQ(engine->run("MatMul", {&cube.tensor, &cube.tensor}, results, ranks), ENGINE_UNSUPPORTED);
  EXPECT_TRUE(results.values.empty());
}

TEST_F(Mxnet, RunsANetworkOfTwoFilesWithAnyShapes) {
  Model model(*engine, "mxnet", mxnet::write_layer(folder), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  const engine_function& function = model.function();
  ASSERT_EQ(function.input_count, 1u);
  EXPECT_STREQ(function.inputs[0].name, "data");
  EXPECT_EQ(function.inputs[0].ndim, -1);
  ASSERT_EQ(function.output_count, 1u);
  EXPECT_STREQ(function.outputs[0].name, "relu_output");
  Floats two({2, 3}, {1, 2, 3, -1, 0, 0}), one({1, 3}, {1, 2, 3});
  for (int round = 0; round < 2; round++) {
    Results many, single;
    Call call;
    ASSERT_EQ(model.run({{0, &two.tensor}}, many, call), ENGINE_OK) << call.message();
    EXPECT_THAT(many.of(0).shape, ElementsAre(2, 2));
    EXPECT_THAT(many.of(0).as<float>(), ElementsAre(12, 28.5f, 0, 0));
    ASSERT_EQ(model.run({{0, &one.tensor}}, single, call), ENGINE_OK) << call.message();
    EXPECT_THAT(single.of(0).as<float>(), ElementsAre(12, 28.5f));
  }
}

TEST_F(Mxnet, NamesTheInputThatDoesNotFit) {
  Model model(*engine, "mxnet", mxnet::write_layer(folder), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats good({1, 3}, {1, 2, 3}), narrow({1, 2}, {1, 2}), none({0, 3}, {});
  auto refusal = [&](std::vector<std::pair<uint32_t, const engine_tensor*>> inputs, engine_status expected) {
    Results results;
    Call call;
    EXPECT_EQ(model.run(std::move(inputs), results, call), expected) << call.message();
    EXPECT_TRUE(results.values.empty());
    return call.message();
  };
  EXPECT_EQ(refusal({}, ENGINE_INVALID), "Input \"data\" is missing.");
  EXPECT_EQ(refusal({{0, &good.tensor}, {0, &good.tensor}}, ENGINE_INVALID),
            "Input \"data\" was given twice.");
  EXPECT_THAT(refusal({{3, &good.tensor}}, ENGINE_INVALID), HasSubstr("number 3"));
  EXPECT_THAT(refusal({{0, &none.tensor}}, ENGINE_UNSUPPORTED), HasSubstr("[0,3]"));
  const std::string misfit = refusal({{0, &narrow.tensor}}, ENGINE_INVALID);
  EXPECT_THAT(misfit, HasSubstr("[2,3]"));  // MXNet's own text
  EXPECT_THAT(misfit, testing::Not(HasSubstr("Stack trace")));
  Results results;
  Call call;
  EXPECT_EQ(model.run({{0, &good.tensor}}, results, call), ENGINE_OK) << call.message();
}

TEST_F(Mxnet, DistinguishesDamagedModelsFromMissingOnes) {
  const std::string good = mxnet::write_layer(folder);
  Model missing(*engine, "mxnet", "/nonexistent-symbol.json", false);
  EXPECT_EQ(missing.status, ENGINE_INVALID);
  EXPECT_EQ(missing.call.details["path"], "/nonexistent-symbol.json");
  EXPECT_EQ(Model(*engine, "mxnet", good, false, {{"mxnet.params", "none.params"}}).status, ENGINE_INVALID);
  EXPECT_EQ(Model(*engine, "mxnet", good, false, {{"mxnet.params", "layer-0000.params"}}).status, ENGINE_OK);
  EXPECT_EQ(Model(*engine, "onnx", good, false).status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(Model(*engine, "mxnet", good, false, {}, {ENGINE_CUDA, 0}).status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(Model(*engine, "mxnet", good, false, {{"somebody.else", "1"}}).status, ENGINE_INVALID);
  EXPECT_EQ(Model(*engine, "mxnet", "bytes", true).status, ENGINE_INVALID);
  mxnet::write(folder + "/bad-symbol.json", "{\"nodes\": [");
  EXPECT_EQ(Model(*engine, "mxnet", folder + "/bad-symbol.json", false).status, ENGINE_CORRUPT);
  mxnet::write(folder + "/cut-symbol.json", mxnet::layer_symbol);
  mxnet::write(folder + "/cut-0000.params", mxnet::layer_parameters().substr(0, 70));
  EXPECT_EQ(Model(*engine, "mxnet", folder + "/cut-symbol.json", false).status, ENGINE_CORRUPT);
}

TEST_F(Mxnet, ChecksTheOptionsOfARun) {
  Model model(*engine, "mxnet", mxnet::write_layer(folder), false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  expect_options_of_runs_looked_at(model, Floats({1, 3}, {1, 2, 3}).tensor);
}

TEST_F(Mxnet, ReportsLoadingAndStopsBeforeItWhenCanceled) {
  const std::string file = mxnet::write_layer(folder);
  engine_model_desc desc{};
  desc.size = sizeof desc;
  desc.format = "mxnet";
  desc.path = file.c_str();
  desc.device = cpu;
  engine_model* model = nullptr;
  Call call;
  call.cancel_after = 0;  // by the application's callback
  EXPECT_EQ(engine->models->load(engine->get(), &desc, &model, &call), ENGINE_CANCELLED);
  EXPECT_EQ(call.progress_calls, 1);
}

TEST_F(Mxnet, KeepsResultsAfterModelAndEngineWereReleased) {
  Results kept;
  {
    Model model(*engine, "mxnet", mxnet::write_layer(folder), false);
    Floats row({1, 3}, {1, 2, 3});
    Call call, canceled;
    canceled.canceled = true;
    ASSERT_EQ(model.run({{0, &row.tensor}}, kept, call), ENGINE_OK) << call.message();
    EXPECT_EQ(model.run({{0, &row.tensor}}, kept, canceled), ENGINE_CANCELLED);
  }
  engine.reset();
  EXPECT_THAT(kept.of(0).as<float>(), ElementsAre(12, 28.5f));
  Engine again(library, root, {{"threads", "1"}});
  ASSERT_EQ(again.status, ENGINE_OK) << again.call.message();
  Call call;
  EXPECT_EQ(again.selftest->run(again.get(), 2, cpu, &call), ENGINE_OK) << call.message();
}

}  // namespace
}  // namespace enginehost::engines::tests
