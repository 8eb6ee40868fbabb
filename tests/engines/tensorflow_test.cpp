// The TensorFlow adapter with a published library, fetched through pip. The variable ENGINEHOST_TENSORFLOW
// names the release, one for each process, because all releases give their libraries the same names.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/engines/fetched.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/engines/saved_models.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string release() {
  const char* text = std::getenv("ENGINEHOST_TENSORFLOW");
  return text == nullptr ? "2.21.0" : text;
}
// Its C API is in a module for Python, so it needs a library of Python on the machine.
bool is_old() { return release() == "2.10.1"; }
const char* const python = "libpython3.11.so.1.0";

class TensorFlow : public testing::Test {
 protected:
  void SetUp() override {
    const Fetched fetched =
        is_old() ? fetch("tensorflow-cpu", release(), "tensorflow/*tensorflow_[fi]*.so*", "3.10")
                 : fetch("tensorflow-cpu", release(), "tensorflow/lib*.so.2");
    if (fetched.folder.empty()) GTEST_SKIP() << fetched.why_not;
    root = fetched.folder;
    engine = std::make_unique<Engine>(library, root, options());
    if (is_old() && engine->call.details["missing_library"] == python)
      GTEST_SKIP() << "skipped: " << engine->call.message();
    ASSERT_EQ(engine->status, ENGINE_OK) << engine->call.message();
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override {
    engine.reset();
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }
  static std::vector<engine_entry> options() {
    return is_old() ? std::vector<engine_entry>{{"tensorflow.python", python}} : std::vector<engine_entry>{};
  }
  std::unique_ptr<Model> load(const tensorflow::SavedModel& model) const {
    model.write(folder + "/model");
    auto out = std::make_unique<Model>(*engine, "savedmodel", folder + "/model", false);
    EXPECT_EQ(out->status, ENGINE_OK) << out->call.message();
    return out;
  }
  Library library{plugin_path("tensorflow")};
  std::string root, folder;
  std::unique_ptr<Engine> engine;
};

TEST_F(TensorFlow, ReportsTheLoadedVersionAndFile) {
  EXPECT_EQ(engine->fact("version"), release());
  EXPECT_THAT(engine->fact("library"), HasSubstr(root + "/tensorflow/"));
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine->devices->info(engine->get(), 0, &info, &call), ENGINE_OK);
  EXPECT_THAT(info.name, HasSubstr("device:CPU:0"));
}

TEST_F(TensorFlow, PassesItsSelfTest) {
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine->selftest->run(engine->get(), level, cpu, &call), ENGINE_OK) << call.message();
  }
  Call call;
  EXPECT_EQ(engine->selftest->run(engine->get(), 2, {ENGINE_CUDA, 0}, &call), ENGINE_INVALID);
}

TEST_F(TensorFlow, ComputesItsOperationsAsOnnxDefinesThem) {
  Floats a({2, 3}, {1, -2, 3, -4, 5, -6}), b({3, 2}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30});
  Floats squares({3}, {1, 4, 9});
  auto compute = [&](const char* name, std::vector<const engine_tensor*> inputs,
                     std::vector<engine_entry> attributes = {}) {
    Results results;
    Call call;
    EXPECT_EQ(engine->run(name, inputs, results, call, attributes), ENGINE_OK)
        << name << ": " << call.message();
    return results.values.empty() ? std::vector<float>{} : results.of(0).as<float>();
  };
  EXPECT_THAT(compute("Add", {&a.tensor, &row.tensor}), ElementsAre(11, 18, 33, 6, 25, 24));
  EXPECT_THAT(compute("Sub", {&a.tensor, &row.tensor}), ElementsAre(-9, -22, -27, -14, -15, -36));
  EXPECT_THAT(compute("Mul", {&a.tensor, &a.tensor}), ElementsAre(1, 4, 9, 16, 25, 36));
  EXPECT_THAT(compute("Relu", {&a.tensor}), ElementsAre(1, 0, 3, 0, 5, 0));
  EXPECT_THAT(compute("MatMul", {&a.tensor, &b.tensor}), ElementsAre(10, 12, -19, -24));
  EXPECT_THAT(compute("Sqrt", {&squares.tensor}), ElementsAre(1, 2, 3));
  for (float value : compute("Softmax", {&a.tensor}, {{"axis", "1"}})) EXPECT_TRUE(value > 0 && value < 1);
  Owned<int32_t> seven({ENGINE_INT, 32, 1}, {2}, {7, -7}), two({ENGINE_INT, 32, 1}, {2}, {2, 2});
  Results quotients;
  Call call;
  ASSERT_EQ(engine->run("Div", {&seven.tensor, &two.tensor}, quotients, call), ENGINE_OK) << call.message();
  EXPECT_THAT(quotients.of(0).as<int32_t>(), ElementsAre(3, -3));
}

TEST_F(TensorFlow, NamesAnOperationItCannotCompute) {
  Floats a({2, 3}, std::vector<float>(6));
  engine_tensor far = a.tensor;
  far.device = {ENGINE_CUDA, 0};
  Owned<int32_t> whole({ENGINE_INT, 32, 1}, {2}, {4, 9});
  Results results;
  Call unknown, misfit, attribute, axis, type, device;
  EXPECT_EQ(engine->run("Transmogrify", {&a.tensor}, results, unknown), ENGINE_UNSUPPORTED);
  EXPECT_EQ(unknown.details["operation"], "Transmogrify");
  EXPECT_EQ(engine->run("MatMul", {&a.tensor, &a.tensor}, results, misfit), ENGINE_INVALID);
  EXPECT_EQ(engine->run("Add", {&a.tensor, &a.tensor}, results, attribute, {{"color", "1"}}), ENGINE_INVALID);
  EXPECT_EQ(engine->run("Softmax", {&a.tensor}, results, axis, {{"axis", "0"}}), ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine->run("Sqrt", {&whole.tensor}, results, type), ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine->run("Add", {&a.tensor, &far}, results, device), ENGINE_INVALID);
  EXPECT_THAT(device.message(), HasSubstr("cuda:0"));
  EXPECT_TRUE(results.values.empty());
}

TEST_F(TensorFlow, RunsASavedModelAndDescribesItsPorts) {
  const auto model = load(tensorflow::layer());
  const engine_function& function = model->function();
  EXPECT_STREQ(function.name, "serving_default");
  ASSERT_EQ(function.input_count, 1u);
  const engine_port& x = function.inputs[0];
  EXPECT_STREQ(x.name, "x");
  ASSERT_EQ(x.ndim, 2);
  EXPECT_EQ(x.shape[0], -1);
  EXPECT_EQ(x.shape[1], 3);
  EXPECT_STREQ(x.dimensions[0], "batch");
  EXPECT_EQ(x.dtype.code, ENGINE_FLOAT);
  EXPECT_STREQ(function.outputs[0].name, "y");
  EXPECT_STREQ(model->info().metadata[0].key, "tags");
  EXPECT_STREQ(model->info().metadata[0].value, "serve");
  Floats rows({2, 3}, {1, 2, 3, -1, 0, 0});
  Results results;
  Call call;
  ASSERT_EQ(model->run({{0, &rows.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).shape, ElementsAre(2, 2));
  EXPECT_THAT(results.of(0).as<float>(), ElementsAre(12, 28.5f, 0, 0));
}

// A result in the memory of an input or a constant would change with it, or change it.
TEST_F(TensorFlow, NoResultSharesMemoryWithAnInputOrAConstant) {
  tensorflow::SavedModel source;
  using tensorflow::endpoint;
  const std::string type = tensorflow::type_attribute("T", tensorflow::float32);
  source.nodes = {tensorflow::placeholder("x", tensorflow::float32, {-1}),
                  tensorflow::constant("kept", {2}, {5, 6}),
                  tensorflow::node("same", "Identity", {"x"}, type),
                  tensorflow::node("twice", "AddV2", {"x", "x"}, type)};
  const std::string row = tensorflow::shape({-1});
  source.signatures = {{"serving_default",
                        {{"x", endpoint("x:0", tensorflow::float32, row)}},
                        {{"kept", endpoint("kept:0", tensorflow::float32, row)},
                         {"same", endpoint("same:0", tensorflow::float32, row)},
                         {"twice", endpoint("twice:0", tensorflow::float32, row)}}}};
  const auto model = load(source);
  alignas(64) float memory[16] = {1, 2, 3};
  const int64_t size = 3;
  const engine_tensor x = {memory, cpu, 1, {ENGINE_FLOAT, 32, 1}, &size, nullptr, 0};
  for (bool offer : {false, true}) {
    Results results;
    results.offer = offer;
    Call call;
    ASSERT_EQ(model->run({{0, &x}}, results, call), ENGINE_OK) << call.message();
    EXPECT_NE(results.of(1).tensor.data, memory);
    EXPECT_EQ(results.of(1).placed, offer);
    EXPECT_FALSE(results.of(2).placed);
    EXPECT_THAT(results.of(1).as<float>(), ElementsAre(1, 2, 3));
    EXPECT_THAT(results.of(2).as<float>(), ElementsAre(2, 4, 6));
    EXPECT_THAT(results.of(0).as<float>(), ElementsAre(5, 6));
    static_cast<float*>(results.of(0).tensor.data)[0] = 99;
  }
}

TEST_F(TensorFlow, TakesAndGivesTextAndEmptyTensors) {
  tensorflow::SavedModel source;
  source.nodes = {tensorflow::placeholder("x", tensorflow::string, {-1}),
                  tensorflow::node("upper", "StringUpper", {"x"}, "")};
  const std::string row = tensorflow::shape({-1});
  source.signatures = {{"serving_default",
                        {{"x", tensorflow::endpoint("x:0", tensorflow::string, row)}},
                        {{"y", tensorflow::endpoint("upper:0", tensorflow::string, row)}}}};
  const auto model = load(source);
  Owned<engine_string> words({ENGINE_STRING, 128, 1}, {3},
                             {{"cat", 3}, {"a text longer than twenty-four bytes", 36}, {"d\0g", 3}});
  Owned<engine_string> none({ENGINE_STRING, 128, 1}, {0}, {});
  Results results, empty;
  Call call;
  ASSERT_EQ(model->run({{0, &words.tensor}}, results, call), ENGINE_OK) << call.message();
  std::vector<std::string> answer;
  for (const engine_string& text : results.of(0).as<engine_string>())
    answer.emplace_back(text.data, text.length);
  EXPECT_THAT(answer, ElementsAre("CAT", "A TEXT LONGER THAN TWENTY-FOUR BYTES", std::string("D\0G", 3)));
  ASSERT_EQ(model->run({{0, &none.tensor}}, empty, call), ENGINE_OK) << call.message();
  EXPECT_THAT(empty.of(0).shape, ElementsAre(0));
  const auto layer = load(tensorflow::layer());
  Floats no_rows({0, 3}, {});
  Results still_none;
  ASSERT_EQ(layer->run({{0, &no_rows.tensor}}, still_none, call), ENGINE_OK) << call.message();
  EXPECT_THAT(still_none.of(0).shape, ElementsAre(0, 2));
}

TEST_F(TensorFlow, NamesTheInputThatDoesNotFit) {
  const auto model = load(tensorflow::layer());
  Floats good({1, 3}, {1, 2, 3}), narrow({1, 2}, {1, 2});
  Owned<double> doubles({ENGINE_FLOAT, 64, 1}, {1, 3}, {1, 2, 3});
  auto refusal = [&](std::vector<std::pair<uint32_t, const engine_tensor*>> inputs) {
    Results results;
    Call call;
    EXPECT_EQ(model->run(std::move(inputs), results, call), ENGINE_INVALID);
    EXPECT_TRUE(results.values.empty());
    return call.message();
  };
  EXPECT_EQ(refusal({}), "Input \"x\" is missing.");
  EXPECT_EQ(refusal({{0, &good.tensor}, {0, &good.tensor}}), "Input \"x\" was given twice.");
  EXPECT_THAT(refusal({{4, &good.tensor}}), HasSubstr("number 4"));
  EXPECT_EQ(refusal({{0, &doubles.tensor}}),
            "Input \"x\" is float64[1,3], and the model takes float32[?,3].");
  EXPECT_EQ(refusal({{0, &narrow.tensor}}), "Input \"x\" is float32[1,2], and the model takes float32[?,3].");
  Results results;
  Call call;
  EXPECT_EQ(model->run({{0, &good.tensor}}, results, call), ENGINE_OK) << call.message();
}

TEST_F(TensorFlow, ChecksTheOptionsOfARun) {
  const auto model = load(tensorflow::layer());
  expect_options_of_runs_looked_at(*model, Floats({1, 3}, {1, 2, 3}).tensor);
}

TEST_F(TensorFlow, DistinguishesDamagedModelsFromMissingOnes) {
  auto status = [&](const char* format, const std::string& path, std::vector<engine_entry> more = {},
                    engine_device device = cpu) {
    return Model(*engine, format, path, false, std::move(more), device).status;
  };
  std::filesystem::create_directories(folder + "/broken");
  std::ofstream(folder + "/broken/saved_model.pb") << "garbage!";
  Model broken(*engine, "savedmodel", folder + "/broken", false);
  EXPECT_EQ(broken.status, ENGINE_CORRUPT) << broken.call.message();
  EXPECT_EQ(broken.call.details["path"], folder + "/broken");
  Model missing(*engine, "savedmodel", "/nonexistent", false);
  EXPECT_EQ(missing.status, ENGINE_INVALID);
  EXPECT_EQ(missing.call.details["path"], "/nonexistent/saved_model.pb");
  const std::string good = folder + "/good";
  tensorflow::layer().write(good);
  EXPECT_EQ(status("onnx", good), ENGINE_UNSUPPORTED);
  EXPECT_EQ(status("savedmodel", good, {}, {ENGINE_CUDA, 0}), ENGINE_UNAVAILABLE);
  EXPECT_EQ(status("savedmodel", good, {{"somebody.else", "1"}}), ENGINE_INVALID);
  EXPECT_EQ(status("savedmodel", good, {{"tensorflow.tags", "train"}}), ENGINE_INVALID);
  EXPECT_EQ(status("savedmodel", good, {{"tensorflow.tags", "serve"}}), ENGINE_OK);
  EXPECT_EQ(Model(*engine, "savedmodel", "bytes", true).status, ENGINE_INVALID);
  tensorflow::SavedModel astray = tensorflow::layer();
  astray.signatures[0].outputs[0].second =
      tensorflow::endpoint("nowhere:0", tensorflow::float32, tensorflow::shape({-1}));
  astray.write(folder + "/astray");
  EXPECT_EQ(status("savedmodel", folder + "/astray"), ENGINE_CORRUPT);
}

TEST_F(TensorFlow, RunsAModelFromManyThreadsAndKeepsResultsAfterIt) {
  Results kept;
  {
    const auto model = load(tensorflow::layer());
    ASSERT_TRUE(model->info().flags & ENGINE_MODEL_CONCURRENT);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; i++) {
          const auto value = static_cast<float>(10 + t * 100 + i);
          Floats row({1, 3}, {value, 0, 0});
          Results results;
          Call call;
          if (model->run({{0, &row.tensor}}, results, call) == ENGINE_OK)
            right += results.of(0).as<float>() == std::vector<float>{value - 10, 2 * value + 0.5f};
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 200);
    Floats row({1, 3}, {1, 2, 3});
    Call call;
    ASSERT_EQ(model->run({{0, &row.tensor}}, kept, call), ENGINE_OK);
  }
  EXPECT_THAT(kept.of(0).as<float>(), ElementsAre(12, 28.5f));
}

TEST_F(TensorFlow, ACanceledRunGivesNothing) {
  const auto model = load(tensorflow::layer());
  Floats row({1, 3}, {1, 2, 3});
  Results results;
  Call call;
  call.canceled = true;
  EXPECT_EQ(model->run({{0, &row.tensor}}, results, call), ENGINE_CANCELLED);
  EXPECT_TRUE(results.values.empty());
}

TEST_F(TensorFlow, TwoEnginesShareTheLibraryAndItCanBeOpenedAgain) {
  {
    Engine second(library, root, options());
    ASSERT_EQ(second.status, ENGINE_OK);
    engine.reset();
    Call call;
    EXPECT_EQ(second.selftest->run(second.get(), 2, cpu, &call), ENGINE_OK) << call.message();
  }
  Engine again(library, root, options());
  ASSERT_EQ(again.status, ENGINE_OK) << again.call.message();
  Call call;
  EXPECT_EQ(again.selftest->run(again.get(), 2, cpu, &call), ENGINE_OK) << call.message();
}

}  // namespace
}  // namespace enginehost::engines::tests
