// The reference engine as a plugin: its file, its refusals, its models, its unloading.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/engines/naive.hpp"
#include "tests/engines/plugin_host.hpp"
#include "tests/support/paths.hpp"

#ifdef ENGINEHOST_SANITIZED
// A plugin that is asked for more memory than there is gets none, as from malloc; AddressSanitizer would stop
// the test.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace enginehost::engines::tests {
namespace {

using testing::HasSubstr;

class ReferencePlugin : public testing::Test {
 protected:
  Library library{plugin_path("reference")};
  Engine engine{library, "/"};
};

TEST_F(ReferencePlugin, ReportsItsIdentity) {
  EXPECT_STREQ(library->engine, "reference");
  EXPECT_EQ(library->size, sizeof(engine_plugin));
  EXPECT_EQ(library->host_minor, 0);
  EXPECT_TRUE(library->flags & ENGINE_PLUGIN_UNLOADABLE);
  EXPECT_STREQ(library->capabilities[0], "device.cpu");
  EXPECT_STREQ(library->capabilities[1], "format.reference");
  EXPECT_EQ(library->capabilities[2], nullptr);
  EXPECT_FALSE(engine.fact("version").empty());
  EXPECT_EQ(library->query(engine.get(), nullptr), nullptr);
  EXPECT_EQ(library->query(engine.get(), ""), nullptr);
  EXPECT_EQ(library->query(engine.get(), "engine.op/2"), nullptr);
}

TEST_F(ReferencePlugin, ListsTheProcessorAsItsOneDevice) {
  ASSERT_EQ(engine.devices->count(engine.get()), 1u);
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine.devices->info(engine.get(), 0, &info, &call), ENGINE_OK);
  EXPECT_EQ(info.device.type, ENGINE_CPU);
  EXPECT_STREQ(info.kind, "cpu");
  EXPECT_GT(info.memory_total, info.memory_free);
  EXPECT_EQ(engine.devices->info(engine.get(), 1, &info, &call), ENGINE_INVALID);
}

TEST_F(ReferencePlugin, PassesItsSelfTestOnEveryLevelAndSetOfKernels) {
  for (const char* kernels : {"baseline", "avx2", "avx512"}) {
    Engine one(library, "/", {{"reference.kernels", kernels}});
    if (one.get() == nullptr) continue;
    for (int32_t level : {0, 1, 2, 3}) {
      Call call;
      EXPECT_EQ(one.selftest->run(one.get(), level, cpu, &call), ENGINE_OK) << call.message();
    }
  }
  Call call;
  EXPECT_EQ(engine.selftest->run(engine.get(), 2, {ENGINE_CUDA, 0}, &call), ENGINE_INVALID);
  EXPECT_EQ(call.details["device"], "cuda:0");
  Call canceled;
  canceled.canceled = true;
  EXPECT_EQ(engine.selftest->run(engine.get(), 2, cpu, &canceled), ENGINE_CANCELLED);
}

TEST_F(ReferencePlugin, IgnoresCommonOptionsAndRefusesUnknownOnesOfItsOwn) {
  Engine common(library, "/", {{"threads", "2"}, {"memory_limit", "1"}});
  EXPECT_EQ(common.status, ENGINE_OK);
  Engine unknown(library, "/", {{"reference.color", "red"}});
  EXPECT_EQ(unknown.status, ENGINE_INVALID);
  EXPECT_EQ(unknown.get(), nullptr);
  EXPECT_EQ(unknown.call.details["option"], "reference.color");
  Engine kernels(library, "/", {{"reference.kernels", "mmx"}});
  EXPECT_EQ(kernels.status, ENGINE_UNAVAILABLE);
  Engine twice(library, "/", {{"reference.kernels", "mmx"}, {"reference.kernels", "baseline"}});
  EXPECT_EQ(twice.status, ENGINE_OK) << "the last counts";
}

TEST_F(ReferencePlugin, NamesTheErrorOfARequest) {
  Floats a({2, 3}, std::vector<float>(6)), b({4}, std::vector<float>(4));
  Floats image({1, 2, 4, 4}, std::vector<float>(32)), weights({2, 1, 3, 3}, std::vector<float>(18));
  Owned<double> doubles({ENGINE_FLOAT, 64, 1}, {2}, {1, 2});
  engine_tensor far = a.tensor, nothing = a.tensor, negative = a.tensor, strided = a.tensor;
  far.device = {ENGINE_CUDA, 1};
  nothing.data = nullptr;
  int64_t bad_shape[] = {2, -3}, strides[] = {1, 2};
  negative.shape = bad_shape;
  strided.strides = strides;
  struct Case {
    const char* name;
    std::vector<const engine_tensor*> inputs;
    std::vector<engine_entry> attributes;
    engine_status status;
    const char* says;
  };
  const Case cases[] = {
      {"Transmogrify",
       {&a.tensor},
       {},
       ENGINE_UNSUPPORTED,
       "has no operation \"Transmogrify\"; it has Add, Conv"},
      {"add", {&a.tensor, &a.tensor}, {}, ENGINE_UNSUPPORTED, "\"add\""},
      {"Add", {&a.tensor}, {}, ENGINE_INVALID, "Add takes 2 inputs, and 1 were given"},
      {"Conv", {&a.tensor}, {}, ENGINE_INVALID, "Conv takes 2 to 3 inputs"},
      {"Add", {&doubles.tensor, &doubles.tensor}, {}, ENGINE_UNSUPPORTED, "Input 0 of Add is float64"},
      {"Add", {&a.tensor, &far}, {}, ENGINE_INVALID, "Input 1 of Add is on cuda:1"},
      {"Add", {&a.tensor, &nothing}, {}, ENGINE_INVALID, "Input 1 of Add has no data"},
      {"Add", {&negative, &a.tensor}, {}, ENGINE_INVALID, "negative size -3"},
      {"Add", {&strided, &a.tensor}, {}, ENGINE_INVALID, "not compact: its strides are [1,2]"},
      {"Add", {&a.tensor, &b.tensor}, {}, ENGINE_INVALID, "[2,3] and [4]"},
      {"Add", {&a.tensor, &a.tensor}, {{"axis", "1"}}, ENGINE_INVALID, "no attribute \"axis\""},
      {"MatMul", {&a.tensor, &a.tensor}, {}, ENGINE_INVALID, "[2,3] by [2,3]"},
      {"Softmax", {&a.tensor}, {{"axis", "2"}}, ENGINE_INVALID, "axis 2"},
      {"Softmax", {&a.tensor}, {{"axis", "last"}}, ENGINE_INVALID, "\"last\""},
      {"Softmax", {&a.tensor}, {{"axis", "1,1"}}, ENGINE_INVALID, "one integer"},
      {"Softmax", {&a.tensor}, {{"axis", "99999999999999999999"}}, ENGINE_INVALID, "axis"},
      {"Conv", {&a.tensor, &a.tensor}, {}, ENGINE_UNSUPPORTED, "two axes"},
      {"Conv", {&image.tensor, &weights.tensor}, {}, ENGINE_INVALID, "in 1 groups"},
      {"Conv",
       {&image.tensor, &weights.tensor},
       {{"group", "2"}, {"strides", "0,1"}},
       ENGINE_INVALID,
       "\"strides\""},
      {"Conv", {&image.tensor, &weights.tensor}, {{"group", "0"}}, ENGINE_INVALID, "in 0 groups"},
      {"Conv",
       {&image.tensor, &weights.tensor},
       {{"group", "2"}, {"pads", "1,1"}},
       ENGINE_INVALID,
       "\"pads\""},
      {"Conv",
       {&image.tensor, &weights.tensor},
       {{"group", "2"}, {"dilations", "9,9"}},
       ENGINE_INVALID,
       "19 pixels"},
      {"Conv",
       {&image.tensor, &weights.tensor},
       {{"group", "2"}, {"kernel_shape", "2,2"}},
       ENGINE_INVALID,
       "kernel_shape"},
      {"Conv",
       {&image.tensor, &weights.tensor},
       {{"group", "2"}, {"auto_pad", "MAYBE"}},
       ENGINE_INVALID,
       "\"MAYBE\""},
  };
  for (const Case& c : cases) {
    Results results;
    Call call;
    EXPECT_EQ(engine.run(c.name, c.inputs, results, call, c.attributes), c.status) << c.says;
    EXPECT_THAT(call.message(), HasSubstr(c.says));
    EXPECT_TRUE(results.values.empty());
    ASSERT_FALSE(call.reports.empty());
    EXPECT_EQ(call.reports[0].status, c.status);
  }
}

TEST_F(ReferencePlugin, RefusesTensorsLargerThanMemoryWithoutTouchingIt) {
  float one = 1;
  int64_t wide[] = {int64_t{1} << 40, 1}, tall[] = {1, int64_t{1} << 40};
  engine_tensor a = {&one, cpu, 2, {ENGINE_FLOAT, 32, 1}, wide, nullptr, 0}, b = a;
  b.shape = tall;
  Results results;
  Call call;
  EXPECT_EQ(engine.run("Add", {&a, &b}, results, call), ENGINE_INVALID);
  EXPECT_THAT(call.message(), HasSubstr("larger than any memory"));
  engine_owned_tensor* out = nullptr;
  Call second, third;
  EXPECT_EQ(engine.tensors->create(engine.get(), &a, &out, &second), ENGINE_NO_MEMORY);
  EXPECT_EQ(out, nullptr);
  int64_t overflow[] = {INT64_MAX, INT64_MAX};
  a.shape = overflow;
  EXPECT_EQ(engine.tensors->create(engine.get(), &a, &out, &third), ENGINE_INVALID);
}

// Without elements a tensor may have any extents, and their sums must not overflow.
TEST_F(ReferencePlugin, RefusesExtentsThatCannotBeAddedUp) {
  Floats weights({1, 0, 3, 3}, {}), image({1, 0, INT64_MAX, 5}, {}), other({1, 0, 5, INT64_MAX - 2}, {});
  for (const Floats* one : {&image, &other}) {
    for (const char* padding : {"NOTSET", "SAME_UPPER"}) {
      Results results;
      Call call;
      EXPECT_EQ(engine.run("Conv", {&one->tensor, &weights.tensor}, results, call,
                           {{"auto_pad", padding}, {"strides", "3,3"}}),
                ENGINE_INVALID);
      EXPECT_THAT(call.message(), HasSubstr("larger than it supports"));
    }
  }
}

TEST_F(ReferencePlugin, AStackOfManyMatricesWithoutElementsTakesNoTime) {
  Floats left({int64_t{1} << 50, 0, 4}, {}), right({4, 4}, std::vector<float>(16));
  Results results;
  Call call;
  ASSERT_EQ(engine.run("MatMul", {&left.tensor, &right.tensor}, results, call), ENGINE_OK) << call.message();
  EXPECT_EQ(results.of(0).shape, (std::vector<int64_t>{int64_t{1} << 50, 0, 4}));
}

TEST_F(ReferencePlugin, ALoadThatIsCanceledStopsWithinTheModel) {
  std::string many_lines = "enginehost-reference 1\n", long_constant = many_lines + "constant w [4000000] (";
  for (int i = 0; i < 300000; i++) many_lines += "meta key value\n";
  for (int i = 0; i < 4000000; i++) long_constant += "1 ";
  for (const std::string& text : {many_lines, long_constant}) {
    engine_model_desc desc{};
    desc.size = sizeof desc;
    desc.format = "reference";
    desc.data = text.data();
    desc.data_size = text.size();
    desc.device = cpu;
    engine_model* model = nullptr;
    Call call;
    call.cancel_after = 1;  // the first is reported before anything is read
    EXPECT_EQ(engine.models->load(engine.get(), &desc, &model, &call), ENGINE_CANCELLED) << call.message();
    EXPECT_EQ(model, nullptr);
    EXPECT_GT(call.last_done, 0u);
    EXPECT_LT(call.last_done, text.size() / 2);
    EXPECT_EQ(call.last_total, text.size());
  }
}

TEST_F(ReferencePlugin, ALoadThatIsCanceledReadsNoFile) {
  const std::string file = plugin_path("reference");  // read to its end it would be no valid model
  engine_model_desc desc{};
  desc.size = sizeof desc;
  desc.format = "reference";
  desc.path = file.c_str();
  desc.device = cpu;
  engine_model* model = nullptr;
  Call call;
  call.cancel_after = 0;
  EXPECT_EQ(engine.models->load(engine.get(), &desc, &model, &call), ENGINE_CANCELLED) << call.message();
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(call.message(), "The load was stopped while " + file + " was read.");
}

TEST_F(ReferencePlugin, MakesAndCopiesTensorsThatOutliveTheEngine) {
  Floats from({2, 2}, {1, 2, 3, 4}), other({4}, {0, 0, 0, 0});
  engine_owned_tensor* made = nullptr;
  {
    Engine brief(library, "/");
    Call call;
    ASSERT_EQ(brief.tensors->create(brief.get(), &from.tensor, &made, &call), ENGINE_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made->tensor.data) % 64, 0u);
    EXPECT_EQ(made->major, ENGINE_DLPACK_MAJOR);
    ASSERT_EQ(brief.tensors->copy(brief.get(), &from.tensor, &made->tensor, &call), ENGINE_OK);
    EXPECT_EQ(brief.tensors->copy(brief.get(), &from.tensor, &other.tensor, &call), ENGINE_INVALID);
    EXPECT_THAT(call.message(), HasSubstr("float32[2,2] and float32[4]"));
  }
  EXPECT_EQ(static_cast<float*>(made->tensor.data)[3], 4);
  made->release(made);
}

constexpr const char* two_outputs = R"(enginehost-reference 1
# a comment
meta labels cat, dog # and this too
input x [batch,2]
input y [batch,2]
constant w [2,3] (1 0 -1   # over
                  0.5e0 +2 .25)
h = MatMul(x, w)
r = Relu(h)
s = Add(x, y)
output r [batch,3]
output s [batch,2]
output s [batch,2]
output x [batch,2]
output w [2,3]
)";

TEST_F(ReferencePlugin, ChecksTheOptionsOfARun) {
  Model model(engine, "reference", "enginehost-reference 1\ninput x [2]\ny = Relu(x)\noutput y [2]\n", true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  expect_options_of_runs_looked_at(model, Floats({2}, {1, 2}).tensor);
}

TEST_F(ReferencePlugin, RunsAModelAndWritesIntoTheHostsMemory) {
  Model model(engine, "reference", two_outputs, true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  ASSERT_EQ(model.function().input_count, 2u);
  ASSERT_EQ(model.function().output_count, 5u);
  EXPECT_STREQ(model.function().inputs[0].name, "x");
  EXPECT_EQ(model.function().inputs[0].shape[0], -1);
  EXPECT_EQ(model.function().inputs[0].shape[1], 2);
  EXPECT_STREQ(model.function().inputs[0].dimensions[0], "batch");
  EXPECT_STREQ(model.function().inputs[0].dimensions[1], "");
  EXPECT_EQ(model.function().outputs[4].dimensions, nullptr);
  ASSERT_EQ(model.info().metadata_count, 1u);
  EXPECT_STREQ(model.info().metadata[0].value, "cat, dog # and this too");
  Floats x({1, 2}, {1, -2}), y({1, 2}, {10, 20});
  for (bool offer : {false, true}) {
    Results results;
    Call call;
    results.offer = offer;
    ASSERT_EQ(model.run({{1, &y.tensor}, {0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
    ASSERT_EQ(results.values.size(), 5u);
    EXPECT_EQ(results.of(0).as<float>(), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(results.of(1).as<float>(), (std::vector<float>{11, 18}));
    EXPECT_EQ(results.of(2).as<float>(), (std::vector<float>{11, 18}));
    EXPECT_EQ(results.of(3).as<float>(), x.data);
    EXPECT_EQ(results.of(4).as<float>(), (std::vector<float>{1, 0, -1, 0.5, 2, 0.25}));
    for (const auto& value : results.values) EXPECT_EQ(value->placed, offer);
  }
}

// The float32 values of a .npy file of version 1.
std::vector<float> read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes.substr(1, 5), "NUMPY");
  size_t start = 10 + static_cast<unsigned char>(bytes[8]) +
                 static_cast<size_t>(static_cast<unsigned char>(bytes[9])) * 256;
  std::vector<float> out((bytes.size() - start) / sizeof(float));
  std::memcpy(out.data(), bytes.data() + start, out.size() * sizeof(float));
  return out;
}

TEST_F(ReferencePlugin, GivesTheStoredAnswerForItsDemonstration) {
  const std::string folder = test::source_path("/engines/reference/models/");
  Model model(engine, "reference", folder + "moons.reference", false);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  std::vector<float> values = read_npy(folder + "moons_points.npy"),
                     expected = read_npy(folder + "moons_chances.npy");
  ASSERT_EQ(values.size(), 12u);
  Floats points({6, 2}, values);
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &points.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_LT(worst_difference(results.of(0).as<float>(), expected), 1e-5);
}

TEST_F(ReferencePlugin, NamesTheInputThatDoesNotFit) {
  Model model(engine, "reference", two_outputs, true);
  ASSERT_EQ(model.status, ENGINE_OK);
  Floats x({3, 2}, std::vector<float>(6)), y({2, 2}, std::vector<float>(4));
  Owned<double> doubles({ENGINE_FLOAT, 64, 1}, {3, 2}, std::vector<double>(6));
  auto refusal = [&](std::vector<std::pair<uint32_t, const engine_tensor*>> inputs) {
    Results results;
    Call call;
    EXPECT_EQ(model.run(std::move(inputs), results, call), ENGINE_INVALID);
    EXPECT_TRUE(results.values.empty());
    return call.details["input"] + "|" + call.message();
  };
  EXPECT_EQ(refusal({{0, &x.tensor}}), "y|Input \"y\" is missing.");
  EXPECT_EQ(refusal({{0, &x.tensor}, {0, &x.tensor}}), "x|Input \"x\" was given twice.");
  EXPECT_THAT(refusal({{0, &x.tensor}, {7, &x.tensor}}), HasSubstr("number 7"));
  EXPECT_EQ(refusal({{0, &x.tensor}, {1, &y.tensor}}),
            "y|Input \"y\" wants float32[batch,2], and float32[2,2] was given.");
  EXPECT_EQ(refusal({{0, &x.tensor}, {1, &doubles.tensor}}),
            "y|Input \"y\" wants float32[batch,2], and float64[3,2] was given.");
}

TEST_F(ReferencePlugin, NamesTheLineOfADamagedModel) {
  const std::string head = "enginehost-reference 1\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "begins with the line"},
      {"enginehost-reference 2\n", "begins with the line"},
      {std::string("enginehost-reference 1\n\0", 24), "zero byte"},
      {head, "at least one output"},
      {head + "input x\n", "Line 2 of the model: a shape"},
      {head + "input x [2\n", "Line 2 of the model: a shape ends with ]"},
      {head + "\n\n input x [1,2,3,4,5,6,7,8,9]\n", "Line 4 of the model: a shape has up to 8"},
      {head + "input x [2x]\n", "neither a number nor a name (\"2x\")"},
      {head + "input x [2]\ninput x [2]\n", "Line 3 of the model: the name was used before (\"x\")"},
      {head + "constant c [2] (1)\n", "fewer numbers"},
      {head + "constant c [2] (1 2 3)\n", "more numbers"},
      {head + "constant c [9999999999] (1)\n", "fewer numbers"},
      {head + "constant c [4611686018427387904,4] (1)\n", "larger than any memory"},
      {head + "constant c [n] (1)\n", "decided at run time (\"n\")"},
      {head + "constant c [1] (1e9999)\n", "fewer numbers"},
      {head + "y = Relu(x)\n", "nothing before it has this name (\"x\")"},
      {head + "input x [2]\ny = Relu(x, x)\n", "too many inputs for (\"Relu\")"},
      {head + "input x [2]\ny = Add(x)\n", "too few inputs for (\"Add\")"},
      {head + "input x [2]\ny = Softmax(axis=0, x)\n", "attributes come after"},
      {head + "input x [2]\ny = Softmax(x, axis=[0\n", "ends with ]"},
      {head + "input x [2]\nx = Relu(x)\n", "used before"},
      {head + "input x [2] oops\n", "more on the line"},
      {head + "output z [2]\n", "nothing before it has this name"},
      {head + "=\n", "begins with a word"},
      {head + "what is this\n", "NAME = OPERATION"},
  };
  for (const auto& [text, says] : cases) {
    Model model(engine, "reference", text, true);
    EXPECT_EQ(model.status, ENGINE_CORRUPT) << text;
    EXPECT_EQ(model.get(), nullptr);
    EXPECT_THAT(model.call.message(), HasSubstr(says)) << text;
  }
  Model unknown(engine, "reference", head + "input x [2]\ny = Gelu(x)\noutput y [2]\n", true);
  EXPECT_EQ(unknown.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(unknown.call.details["operation"], "Gelu");
}

TEST_F(ReferencePlugin, NoCutOrChangedModelHurtsIt) {
  const std::string good = two_outputs;
  unsigned loaded = 0;
  for (size_t cut = 0; cut < good.size(); cut++)
    loaded += Model(engine, "reference", good.substr(0, cut), true).status == ENGINE_OK;
  EXPECT_LT(loaded, 120u);  // cut after a complete output, it is a model
  std::mt19937 random(1);
  for (int i = 0; i < 3000; i++) {
    std::string text = good;
    for (int j = 0; j < 3; j++) text[random() % text.size()] = "()[]=,#\n 0129xy-.e"[random() % 18];
    Model model(engine, "reference", text, true);
    EXPECT_TRUE(model.status == ENGINE_OK ? model.get() != nullptr : !model.call.reports.empty());
  }
}

TEST_F(ReferencePlugin, RefusesImpossibleModels) {
  Model missing(engine, "reference", "/nonexistent/model", false);
  EXPECT_EQ(missing.status, ENGINE_INVALID);
  EXPECT_EQ(missing.call.details["path"], "/nonexistent/model");
  EXPECT_EQ(missing.call.reports[0].origin, "errno");
  EXPECT_EQ(missing.call.reports[0].native, ENOENT);
  Model folder(engine, "reference", test::source_path(), false);
  EXPECT_EQ(folder.status, ENGINE_INVALID);
  EXPECT_EQ(Model(engine, "onnx", two_outputs, true).status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(Model(engine, "reference", two_outputs, true, {}, {ENGINE_CUDA, 0}).status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(Model(engine, "reference", two_outputs, true, {{"reference.x", "1"}}).status, ENGINE_INVALID);
  EXPECT_EQ(Model(engine, "reference", two_outputs, true, {{"threads", "1"}}).status, ENGINE_OK);
}

TEST_F(ReferencePlugin, ResultsMatchTheDeclaredPortsOrTheModelIsDamaged) {
  Model model(engine, "reference", "enginehost-reference 1\ninput x [n]\ny = Relu(x)\noutput y [3]\n", true);
  Floats x({2}, {1, 2});
  Results results;
  Call call;
  EXPECT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_CORRUPT);
  EXPECT_THAT(call.message(), HasSubstr("as [3], and the steps computed [2]"));
  Model misfit(engine, "reference",
               "enginehost-reference 1\ninput x [n]\ny = MatMul(x, x)\nz = Add(y, x)\noutput z [n]\n", true);
  Floats ok({2}, {1, 2});
  Results sum;
  Call second;
  EXPECT_EQ(misfit.run({{0, &ok.tensor}}, sum, second), ENGINE_OK);
  EXPECT_EQ(sum.of(0).as<float>(), (std::vector<float>{6, 7}));
}

TEST_F(ReferencePlugin, RunsOneModelFromManyThreadsAtOnce) {
  Model model(engine, "reference", two_outputs, true);
  ASSERT_TRUE(model.info().flags & ENGINE_MODEL_CONCURRENT);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; i++) {
        float value = static_cast<float>(t * 1000 + i);
        Floats x({1, 2}, {value, value}), y({1, 2}, {1, 1});
        Results results;
        Call call;
        if (model.run({{0, &x.tensor}, {1, &y.tensor}}, results, call) == ENGINE_OK) {
          right += results.of(1).as<float>() == std::vector<float>{value + 1, value + 1};
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
}

TEST(ReferenceUnload, UnloadsAHundredTimesAndItsErrorsStayValid) {
  std::string message;
  for (int i = 0; i < 100; i++) {
    Call call;
    {
      Library library(plugin_path("reference"));
      Engine engine(library, "/");
      Floats a({2}, {1, 2});
      Results results;
      ASSERT_EQ(engine.run("Add", {&a.tensor, &a.tensor}, results, call), ENGINE_OK);
      ASSERT_EQ(engine.run("Nonsense", {&a.tensor}, results, call), ENGINE_UNSUPPORTED);
    }
    ASSERT_FALSE(is_loaded(plugin_path("reference")));
    message = call.message();
  }
  EXPECT_THAT(message, HasSubstr("\"Nonsense\""));
}

}  // namespace
}  // namespace enginehost::engines::tests
