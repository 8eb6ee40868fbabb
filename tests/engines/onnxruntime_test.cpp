// The ONNX Runtime adapter with published libraries, fetched through pip.
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/engines/elf_names.hpp"
#include "tests/engines/fetched.hpp"
#include "tests/engines/naive.hpp"
#include "tests/engines/onnx_models.hpp"
#include "tests/engines/plugin_host.hpp"

#ifdef ENGINEHOST_SANITIZED
// Some releases of ONNX Runtime lose 32 bytes of their own when the process ends.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libonnxruntime.so"; }
#endif

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OnnxRuntime : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Fetched fetched = fetch("onnxruntime", GetParam(), "onnxruntime/capi/lib*.so*");
    if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
    root = fetched.folder;
    engine = std::make_unique<Engine>(library, root);
    ASSERT_EQ(engine->status, ENGINE_OK) << engine->call.message();
  }
  Library library{plugin_path("onnxruntime")};
  std::string root;
  std::unique_ptr<Engine> engine;
};

TEST_P(OnnxRuntime, ReportsTheLoadedVersionAndFile) {
  EXPECT_EQ(engine->fact("version"), GetParam());
  EXPECT_EQ(engine->fact("library"), root + "/onnxruntime/capi/libonnxruntime.so." + GetParam());
}

TEST_P(OnnxRuntime, PassesItsSelfTest) {
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cpu, &call), ENGINE_OK) << call.message();
  }
  Call call;
  EXPECT_EQ(engine->selftest->run(engine->get(), 2, {ENGINE_CUDA, 0}, &call), ENGINE_INVALID);
}

// The provider that ran each node is read from the runtime's own profile of the first run.
TEST_P(OnnxRuntime, ReportsWhereTheNodesOfAModelRan) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("MatMul", {"a", "a"}, {"m"}), onnx::node("Softmax", {"m"}, {"y"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"2", "2"})};
  graph.outputs = {onnx::value("y", onnx::float32, {"2", "2"})};
  Floats a({2, 2}, {1, 2, 3, 4});
  {
    Model model(*engine, "onnx", graph.bytes(), true, {{"placement", "measure"}});
    ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
    for (const char* reported : {"CPUExecutionProvider 2", ""}) {
      Results results;
      Call call;
      ASSERT_EQ(model.run({{0, &a.tensor}}, results, call), ENGINE_OK) << call.message();
      EXPECT_EQ(call.details["placement"], reported);
    }
  }
  Model wrong(*engine, "onnx", graph.bytes(), true, {{"placement", "guess"}});
  EXPECT_EQ(wrong.status, ENGINE_INVALID);
  EXPECT_EQ(wrong.call.details["option"], "placement");
}

TEST_P(OnnxRuntime, ComputesTheOperationsEveryEngineHas) {
  Floats a({2, 3}, {1, -2, 3, -4, 5, -6}), b({3, 2}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
  auto compute = [&](const char* name, std::vector<const engine_tensor*> inputs,
                     std::vector<engine_entry> attributes) {
    Results results;
    Call call;
    EXPECT_EQ(engine->run(name, inputs, results, call, attributes), ENGINE_OK)
        << name << ": " << call.message();
    return results.values.empty() ? std::vector<float>{} : results.of(0).as<float>();
  };
  EXPECT_THAT(compute("Add", {&a.tensor, &row.tensor}, {}), ElementsAre(11, 18, 33, 6, 25, 24));
  EXPECT_THAT(compute("Mul", {&a.tensor, &a.tensor}, {}), ElementsAre(1, 4, 9, 16, 25, 36));
  EXPECT_THAT(compute("Relu", {&a.tensor}, {}), ElementsAre(1, 0, 3, 0, 5, 0));
  EXPECT_THAT(compute("MatMul", {&a.tensor, &b.tensor}, {}), ElementsAre(10, 12, -19, -24));
  for (float value : compute("Softmax", {&a.tensor}, {{"axis", "0"}})) EXPECT_TRUE(value > 0 && value < 1);

  NaiveConv conv = {1, 4, 9, 7, 6, 3, 2, 2, 2, 1, 1, 2, 1, 0, 2, 1};
  Floats image({1, 4, 9, 7}, random_floats(252, 1)), weights({6, 2, 3, 2}, random_floats(72, 2));
  Floats bias({6}, random_floats(6, 3));
  std::vector<engine_entry> attributes = {
      {"strides", "2,1"}, {"dilations", "1,2"}, {"pads", "1,0,2,1"}, {"group", "2"}, {"kernel_shape", "3,2"}};
  std::vector<float> answer = compute("Conv", {&image.tensor, &weights.tensor, &bias.tensor}, attributes);
  EXPECT_LT(worst_difference(answer, conv.run(image.data, weights.data, bias.data)), 1e-5);
}

TEST_P(OnnxRuntime, ChecksTheOptionsOfARun) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("Relu", {"a"}, {"y"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"2"})};
  graph.outputs = {onnx::value("y", onnx::float32, {"2"})};
  Model model(*engine, "onnx", graph.bytes(), true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  expect_options_of_runs_looked_at(model, Floats({2}, {1, 2}).tensor);
}

// Operations are cached by their request: an attribute whose text looks like two is another request.
TEST_P(OnnxRuntime, ATextThatLooksLikeTwoAttributesStaysOne) {
  Floats image({1, 1, 4, 4}, random_floats(16, 1)), weights({1, 1, 2, 2}, random_floats(4, 2));
  Results two, one;
  Call first, second;
  ASSERT_EQ(engine->run("Conv", {&image.tensor, &weights.tensor}, two, first,
                        {{"auto_pad", "VALID"}, {"strides", "2,2"}}),
            ENGINE_OK)
      << first.message();
  // The kind of refusal differs between the releases.
  EXPECT_NE(
      engine->run("Conv", {&image.tensor, &weights.tensor}, one, second, {{"auto_pad", "VALID;strides=2,2"}}),
      ENGINE_OK);
}

// The runtime computes something in each of these; with an empty window it once ran without end.
TEST_P(OnnxRuntime, RefusesWhatOnnxForbids) {
  Floats three({3}, {1, 2, 3}), four({4}, {1, 2, 3, 4}), row({1, 3}, {1, 2, 3});
  Floats image({1, 1, 4, 4}, random_floats(16, 1)), weights({1, 1, 2, 2}, random_floats(4, 2)),
      nothing({1, 1, 0, 2}, {});
  const auto refused = [&](const char* name, std::vector<const engine_tensor*> inputs,
                           std::vector<engine_entry> attributes = {}) {
    Results results;
    Call call;
    return engine->run(name, std::move(inputs), results, call, std::move(attributes)) == ENGINE_INVALID;
  };
  EXPECT_TRUE(refused("MatMul", {&three.tensor, &four.tensor}));
  EXPECT_TRUE(refused("Softmax", {&row.tensor}, {{"axis", "9223372036854775807"}}));
  EXPECT_TRUE(refused("Softmax", {&row.tensor}, {{"axis", "\t1"}}));
  EXPECT_TRUE(refused("Conv", {&image.tensor, &nothing.tensor}));
  for (const engine_entry& attribute :
       std::initializer_list<engine_entry>{{"pads", "-1,0,0,0"},
                                           {"pads", "1,1,1,1,1"},
                                           {"strides", "9223372036854775807,1"},
                                           {"strides", "1,1,1"},
                                           {"dilations", "0,1"},
                                           {"auto_pad", ""}})
    EXPECT_TRUE(refused("Conv", {&image.tensor, &weights.tensor}, {attribute}))
        << attribute.key << attribute.value;
}

TEST_P(OnnxRuntime, AnAttributeGivenTwiceCountsAsItsLast) {
  Floats a({2, 3}, {1, 2, 3, 4, 5, 6});
  Results once, twice;
  Call call;
  ASSERT_EQ(engine->run("Softmax", {&a.tensor}, once, call, {{"axis", "1"}}), ENGINE_OK) << call.message();
  ASSERT_EQ(engine->run("Softmax", {&a.tensor}, twice, call, {{"axis", "0"}, {"axis", "1"}}), ENGINE_OK)
      << call.message();
  EXPECT_EQ(twice.of(0).as<float>(), once.of(0).as<float>());
}

TEST_P(OnnxRuntime, HasNoCodeForSomeTypes) {
  Owned<int8_t> whole({ENGINE_INT, 8, 1}, {2, 2}, {1, 2, 3, 4});
  Results results;
  Call call;
  EXPECT_EQ(engine->run("MatMul", {&whole.tensor, &whole.tensor}, results, call), ENGINE_UNSUPPORTED)
      << call.message();
}

// A valid request that this runtime does not compute.
TEST_P(OnnxRuntime, HasNoAutomaticPadsWithDilations) {
  Floats image({1, 1, 6, 6}, random_floats(36, 1)), weights({1, 1, 2, 2}, random_floats(4, 2));
  Results results;
  Call call;
  const engine_status status = engine->run("Conv", {&image.tensor, &weights.tensor}, results, call,
                                           {{"auto_pad", "SAME_UPPER"}, {"dilations", "2,2"}});
  EXPECT_TRUE(status == ENGINE_UNSUPPORTED || status == ENGINE_OK) << status << call.message();
}

TEST_P(OnnxRuntime, NamesAnOperationItCannotCompute) {
  Floats a({2, 3}, std::vector<float>(6));
  engine_tensor far = a.tensor;
  far.device = {ENGINE_CUDA, 0};
  Results results;
  Call unknown, misfit, attribute, device;
  EXPECT_EQ(engine->run("Transmogrify", {&a.tensor}, results, unknown), ENGINE_UNSUPPORTED);
  EXPECT_EQ(unknown.details["operation"], "Transmogrify");
  EXPECT_EQ(engine->run("MatMul", {&a.tensor, &a.tensor}, results, misfit), ENGINE_INVALID);
  EXPECT_EQ(engine->run("Add", {&a.tensor, &a.tensor}, results, attribute, {{"color", "1"}}), ENGINE_INVALID);
  EXPECT_EQ(engine->run("Add", {&a.tensor, &far}, results, device), ENGINE_INVALID);
  EXPECT_THAT(device.message(), HasSubstr("cuda:0"));
  EXPECT_TRUE(results.values.empty());
}

TEST_P(OnnxRuntime, DescribesPortsAndTheMetadataOfTheFile) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("Add", {"a", "b"}, {"c"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"batch", "3", ""})};
  graph.outputs = {onnx::value("c", onnx::float32, {"batch", "3", ""})};
  graph.initializers = {onnx::scalar_initializer("b", 100)};
  graph.inputs.push_back(onnx::value("b", onnx::float32, {"1"}));
  graph.metadata = {{"labels", "cat,dog"}, {"empty", ""}};
  Model model(*engine, "onnx", graph.bytes(), true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  const engine_function& function = model.function();
  ASSERT_EQ(function.input_count, 2u);
  EXPECT_STREQ(function.inputs[0].name, "a");
  ASSERT_EQ(function.inputs[0].ndim, 3);
  EXPECT_EQ(function.inputs[0].shape[0], -1);
  EXPECT_EQ(function.inputs[0].shape[1], 3);
  EXPECT_EQ(function.inputs[0].shape[2], -1);
  EXPECT_STREQ(function.inputs[0].dimensions[0], "batch");
  EXPECT_STREQ(function.inputs[0].dimensions[2], "");
  EXPECT_EQ(function.inputs[0].flags, 0u);
  EXPECT_STREQ(function.inputs[1].name, "b");
  EXPECT_EQ(function.inputs[1].flags, ENGINE_PORT_OPTIONAL);
  std::map<std::string, std::string> metadata;
  for (size_t i = 0; i < model.info().metadata_count; i++) {
    metadata[model.info().metadata[i].key] = model.info().metadata[i].value;
  }
  EXPECT_EQ(metadata, (std::map<std::string, std::string>{
                          {"producer", "enginehost-tests"}, {"labels", "cat,dog"}, {"empty", ""}}));
  Floats a({1, 3, 1}, {1, 2, 3}), b({1}, {10});
  Results with, without;
  Call call;
  ASSERT_EQ(model.run({{0, &a.tensor}}, without, call), ENGINE_OK) << call.message();
  EXPECT_THAT(without.of(0).as<float>(), ElementsAre(101, 102, 103));
  ASSERT_EQ(model.run({{1, &b.tensor}, {0, &a.tensor}}, with, call), ENGINE_OK) << call.message();
  EXPECT_THAT(with.of(0).as<float>(), ElementsAre(11, 12, 13));
}

TEST_P(OnnxRuntime, ComputesInTheHostsMemoryWhenTheShapeIsFixed) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("Add", {"a", "a"}, {"c"}), onnx::node("NonZero", {"a"}, {"i"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"4"})};
  graph.outputs = {onnx::value("c", onnx::float32, {"4"}), onnx::value("i", onnx::int64, {"1", ""})};
  Model model(*engine, "onnx", graph.bytes(), true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats a({4}, {0, 1, 0, 3});
  for (bool offer : {false, true}) {
    Results results;
    Call call;
    results.offer = offer;
    ASSERT_EQ(model.run({{0, &a.tensor}}, results, call), ENGINE_OK) << call.message();
    ASSERT_EQ(results.values.size(), 2u);
    EXPECT_EQ(results.of(0).placed, offer);
    EXPECT_THAT(results.of(0).as<float>(), ElementsAre(0, 2, 0, 6));
    EXPECT_FALSE(results.of(1).placed);
    EXPECT_THAT(results.of(1).shape, ElementsAre(1, 2));
    EXPECT_EQ(results.of(1).tensor.dtype.code, ENGINE_INT);
    EXPECT_THAT(results.of(1).as<int64_t>(), ElementsAre(1, 3));
  }
}

TEST_P(OnnxRuntime, TakesAndGivesStrings) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("StringNormalizer", {"x"}, {"y"},
                            onnx::text("case_change_action", "UPPER") + onnx::text("locale", "C"))};
  graph.inputs = {onnx::value("x", onnx::string, {"n"})};
  graph.outputs = {onnx::value("y", onnx::string, {"n"})};
  Model model(*engine, "onnx", graph.bytes(), true);
  if (model.status != ENGINE_OK) GTEST_SKIP() << "skipped: this library has no locale to change case with";
  Owned<engine_string> words({ENGINE_STRING, 128, 1}, {3}, {{"cat", 3}, {"", 0}, {"a dog!", 6}});
  Owned<engine_string> zero({ENGINE_STRING, 128, 1}, {1}, {{"a\0b", 3}});
  Results results, none;
  Call call, refused;
  ASSERT_EQ(model.run({{0, &words.tensor}}, results, call), ENGINE_OK) << call.message();
  std::vector<std::string> answer;
  for (const engine_string& text : results.of(0).as<engine_string>())
    answer.emplace_back(text.data, text.length);
  EXPECT_THAT(answer, ElementsAre("CAT", "", "A DOG!"));
  EXPECT_EQ(model.run({{0, &zero.tensor}}, none, refused), ENGINE_INVALID);
  EXPECT_THAT(refused.message(), HasSubstr("zero byte"));
}

TEST_P(OnnxRuntime, GivesTheElementsOfAListOneByOne) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("SplitToSequence", {"x"}, {"s"}, onnx::integer("axis", 0))};
  graph.inputs = {onnx::value("x", onnx::float32, {"n"})};
  graph.outputs = {onnx::list("s", onnx::float32)};
  Model model(*engine, "onnx", graph.bytes(), true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  EXPECT_EQ(model.function().outputs[0].flags, ENGINE_PORT_REPEATED);
  Floats x({3}, {7, 8, 9});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  ASSERT_EQ(results.values.size(), 3u);
  for (size_t i = 0; i < 3; i++)
    EXPECT_THAT(results.values[i]->as<float>(), ElementsAre(7 + static_cast<float>(i)));
}

TEST_P(OnnxRuntime, NamesTheInputThatDoesNotFit) {
  onnx::Graph graph;
  graph.nodes = {onnx::node("Add", {"a", "b"}, {"c"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"4"}), onnx::value("b", onnx::float32, {"4"})};
  graph.outputs = {onnx::value("c", onnx::float32, {"4"})};
  Model model(*engine, "onnx", graph.bytes(), true);
  ASSERT_EQ(model.status, ENGINE_OK);
  Floats good({4}, {1, 2, 3, 4}), longer({5}, std::vector<float>(5));
  Owned<double> doubles({ENGINE_FLOAT, 64, 1}, {4}, std::vector<double>(4));
  auto refusal = [&](std::vector<std::pair<uint32_t, const engine_tensor*>> inputs) {
    Results results;
    Call call;
    EXPECT_EQ(model.run(std::move(inputs), results, call), ENGINE_INVALID);
    EXPECT_TRUE(results.values.empty());
    return call.message();
  };
  EXPECT_EQ(refusal({{0, &good.tensor}}), "Input \"b\" is missing.");
  EXPECT_EQ(refusal({{0, &good.tensor}, {0, &good.tensor}}), "Input \"a\" was given twice.");
  EXPECT_THAT(refusal({{0, &good.tensor}, {9, &good.tensor}}), HasSubstr("number 9"));
  EXPECT_THAT(refusal({{0, &good.tensor}, {1, &longer.tensor}}), HasSubstr("b"));
  EXPECT_THAT(refusal({{0, &good.tensor}, {1, &doubles.tensor}}), HasSubstr("double"));
  Results results;
  Call call;
  EXPECT_EQ(model.run({{0, &good.tensor}, {1, &good.tensor}}, results, call), ENGINE_OK);
}

TEST_P(OnnxRuntime, DistinguishesDamagedModelsFromMissingOnes) {
  Model garbage(*engine, "onnx", "garbage!", true);
  EXPECT_EQ(garbage.status, ENGINE_CORRUPT) << garbage.call.message();
  Model missing(*engine, "onnx", "/nonexistent/model.onnx", false);
  EXPECT_EQ(missing.status, ENGINE_INVALID);
  EXPECT_EQ(missing.call.details["path"], "/nonexistent/model.onnx");
  EXPECT_EQ(Model(*engine, "reference", "x", true).status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(Model(*engine, "onnx", "x", true, {}, {ENGINE_CUDA, 0}).status, ENGINE_UNAVAILABLE);
  Model option(*engine, "onnx", "x", true, {{"somebody.else", "1"}});
  EXPECT_EQ(option.status, ENGINE_INVALID);
  EXPECT_EQ(option.call.details["option"], "somebody.else");
  EXPECT_EQ(Model(*engine, "onnx", "x", true, {{"threads", "many"}}).call.details["option"], "threads");
}

std::string long_model() {
  onnx::Graph graph;
  for (int i = 0; i < 400; i++) {
    graph.nodes.push_back(onnx::node("MatMul", {i == 0 ? "a" : "t" + std::to_string(i), "a"},
                                     {i == 399 ? "y" : "t" + std::to_string(i + 1)}));
  }
  graph.inputs = {onnx::value("a", onnx::float32, {"n", "n"})};
  graph.outputs = {onnx::value("y", onnx::float32, {"n", "n"})};
  return graph.bytes();
}

TEST_P(OnnxRuntime, ACanceledRunStopsSoon) {
  Model model(*engine, "onnx", long_model(), true,
              {{"threads", "1"}, {"onnxruntime.session.intra_op.allow_spinning", "0"}});
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats a({700, 700}, std::vector<float>(490000, 0.001f));
  Results results;
  Call call;
  std::thread stop([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    call.canceled = true;
  });
  auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(model.run({{0, &a.tensor}}, results, call), ENGINE_CANCELLED) << call.message();
  stop.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  EXPECT_TRUE(results.values.empty());
  Floats small({2, 2}, {0, 0, 0, 0});
  Call again;
  EXPECT_EQ(model.run({{0, &small.tensor}}, results, again), ENGINE_OK) << again.message();
}

TEST_P(OnnxRuntime, RunsAModelFromManyThreadsAndKeepsResultsAfterIt) {
  std::vector<std::unique_ptr<Results>> kept;
  {
    onnx::Graph graph;
    graph.nodes = {onnx::node("Add", {"a", "a"}, {"c"})};
    graph.inputs = {onnx::value("a", onnx::float32, {"n"})};
    graph.outputs = {onnx::value("c", onnx::float32, {"n"})};
    Model model(*engine, "onnx", graph.bytes(), true);
    ASSERT_TRUE(model.info().flags & ENGINE_MODEL_CONCURRENT);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; i++) {
          Floats a({1}, {static_cast<float>(t * 100 + i)});
          Results results;
          Call call;
          if (model.run({{0, &a.tensor}}, results, call) == ENGINE_OK) {
            right += results.of(0).as<float>()[0] == a.data[0] * 2;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 200);
    Floats a({2}, {1, 2});
    Call call;
    kept.push_back(std::make_unique<Results>());
    ASSERT_EQ(model.run({{0, &a.tensor}}, *kept[0], call), ENGINE_OK);
  }
  EXPECT_THAT(kept[0]->of(0).as<float>(), ElementsAre(2, 4));
  kept.clear();
}

TEST_P(OnnxRuntime, TwoEnginesShareTheLibraryAndItCanBeOpenedAgain) {
  {
    Engine second(library, root);
    ASSERT_EQ(second.status, ENGINE_OK);
    engine.reset();
    Call call;
    EXPECT_EQ(second.selftest->run(second.get(), 2, cpu, &call), ENGINE_OK) << call.message();
  }
  for (int i = 0; i < 5; i++) {
    Engine again(library, root);
    ASSERT_EQ(again.status, ENGINE_OK) << again.call.message();
    Call call;
    EXPECT_EQ(again.selftest->run(again.get(), 2, cpu, &call), ENGINE_OK) << call.message();
  }
}

TEST_P(OnnxRuntime, LoadsTheLibraryOfTheManifestFromInsideTheBuildOnly) {
  std::string inside = std::string("onnxruntime/capi/libonnxruntime.so.") + GetParam();
  Engine named(library, root, {{"onnxruntime.library", inside.c_str()}});
  EXPECT_EQ(named.status, ENGINE_OK) << named.call.message();
  for (const char* outside : {"/usr/lib/libonnxruntime.so", "../libonnxruntime.so", "a/../../b", ""}) {
    Engine refused(library, root, {{"onnxruntime.library", outside}});
    EXPECT_EQ(refused.status, ENGINE_INVALID) << outside;
    EXPECT_EQ(refused.call.details["option"], "onnxruntime.library");
  }
  Engine absent(library, root, {{"onnxruntime.library", "lib/libnone.so"}});
  EXPECT_EQ(absent.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(absent.call.details["missing_library"], HasSubstr("lib/libnone.so"));
}

INSTANTIATE_TEST_SUITE_P(, OnnxRuntime, testing::Values("1.20.1", "1.22.0", "1.27.0"),
                         [](const auto& version) {
                           std::string name = version.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(OnnxRuntimeTogether, TwoVersionsLiveInOneProcess) {
  Fetched old = fetch("onnxruntime", "1.20.1", "onnxruntime/capi/lib*.so*");
  Fetched recent = fetch("onnxruntime", "1.27.0", "onnxruntime/capi/lib*.so*");
  if (old.folder.empty() || recent.folder.empty()) GTEST_SKIP() << old.why_not << recent.why_not;
  Library library(plugin_path("onnxruntime"));
  Engine first(library, old.folder), second(library, recent.folder);
  ASSERT_EQ(first.status, ENGINE_OK);
  ASSERT_EQ(second.status, ENGINE_OK);
  EXPECT_EQ(first.fact("version"), "1.20.1");
  EXPECT_EQ(second.fact("version"), "1.27.0");
  for (const Engine* engine : {&first, &second}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), 2, cpu, &call), ENGINE_OK) << call.message();
  }
}

// A published model, and its probability of speech for half a second of a 440 Hz tone: almost zero.
TEST(OnnxRuntimeModels, RunsAPublishedVoiceDetector) {
  Fetched runtime = fetch("onnxruntime", "1.22.0", "onnxruntime/capi/lib*.so*");
  Fetched model_files = fetch("silero-vad", "6.2.3", "silero_vad/data/silero_vad.onnx");
  if (runtime.folder.empty() || model_files.folder.empty())
    GTEST_SKIP() << runtime.why_not << model_files.why_not;
  Library library(plugin_path("onnxruntime"));
  Engine engine(library, runtime.folder);
  ASSERT_EQ(engine.status, ENGINE_OK);
  Model model(engine, "onnx", model_files.folder + "/silero_vad/data/silero_vad.onnx", false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  std::vector<float> tone(576);
  for (size_t i = 0; i < tone.size(); i++) {
    tone[i] =
        0.5f * static_cast<float>(std::sin(2 * 3.14159265358979 * 440 * static_cast<double>(i) / 16000));
  }
  Floats input({1, 576}, tone), state({2, 1, 128}, std::vector<float>(256));
  Owned<int64_t> rate({ENGINE_INT, 64, 1}, {}, {16000});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &input.tensor}, {1, &state.tensor}, {2, &rate.tensor}}, results, call), ENGINE_OK)
      << call.message();
  EXPECT_THAT(results.of(0).shape, ElementsAre(1, 1));
  EXPECT_LT(results.of(0).as<float>()[0], 0.5f);
  EXPECT_THAT(results.of(1).shape, ElementsAre(2, 1, 128));
}

}  // namespace
}  // namespace enginehost::engines::tests
