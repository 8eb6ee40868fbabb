// Published execution providers of ONNX Runtime, fetched through pip: what they compute on the CPU, and the
// reason where they offer no device. The machine of the tests needs no GPU.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/engines/fetched.hpp"
#include "tests/engines/naive.hpp"
#include "tests/engines/onnx_models.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

constexpr engine_device first = {ENGINE_OTHER_DEVICE, 0};

// A folder like an installed build: the runtime's package beside the provider's.
class OnnxRuntimeProvider : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
    roots().push_back(root);
  }
  // Not earlier: the runtimes stay loaded, under the paths of the first test that used them.
  static void TearDownTestSuite() {
    for (const std::string& folder : roots()) fs::remove_all(folder);
  }
  static std::vector<std::string>& roots() {
    static std::vector<std::string> all;
    return all;
  }

  // Returns the reason why the files cannot be had; empty if they are in the folder.
  std::string add(const std::string& project, const std::string& version, const std::string& glob) const {
    const Fetched fetched = fetch(project, version, glob);
    if (fetched.folder.empty()) return fetched.why_not;
    for (const auto& entry : fs::directory_iterator(fetched.folder))
      fs::create_directory_symlink(entry.path(), fs::path(root) / entry.path().filename());
    return "";
  }
  std::string add_runtime(const std::string& version) const {
    return add("onnxruntime", version, "onnxruntime/capi/lib*.so*");
  }

  Library library{plugin_path("onnxruntime")};
  std::string root;
};

const std::vector<engine_entry> ggml = {
    {"onnxruntime.provider", "ggml"},
    {"onnxruntime.provider_library", "onnxruntime_ggml/lib/libonnxruntime_ggml.so"}};
const std::vector<engine_entry> openvino = {
    {"onnxruntime.provider", "openvino"},
    {"onnxruntime.provider_library", "onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so"}};
const std::vector<engine_entry> webgpu = {
    {"onnxruntime.provider", "webgpu"},
    {"onnxruntime.provider_library", "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so"}};

// y = softmax(relu(a b)) of 16 x 16 matrices.
std::string three_nodes() {
  onnx::Graph graph;
  graph.nodes = {onnx::node("MatMul", {"a", "b"}, {"m"}), onnx::node("Relu", {"m"}, {"r"}),
                 onnx::node("Softmax", {"r"}, {"y"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"16", "16"}),
                  onnx::value("b", onnx::float32, {"16", "16"})};
  graph.outputs = {onnx::value("y", onnx::float32, {"16", "16"})};
  return graph.bytes();
}

std::vector<float> answer_of(const Engine& engine, engine_device device, std::string& placement) {
  Floats a({16, 16}, random_floats(256, 1)), b({16, 16}, random_floats(256, 2));
  Model model(engine, "onnx", three_nodes(), true, {{"placement", "measure"}}, device);
  EXPECT_EQ(model.status, ENGINE_OK) << model.call.message();
  if (model.status != ENGINE_OK) return {};
  Results results;
  Call call;
  EXPECT_EQ(model.run({{0, &a.tensor}, {1, &b.tensor}}, results, call), ENGINE_OK) << call.message();
  placement = call.details["placement"];
  return results.values.empty() ? std::vector<float>{} : results.of(0).as<float>();
}

// The provider computes every node, and its answer is the CPU's.
void expect_the_answer_of_the_cpu(const Engine& engine, const std::string& provider) {
  for (const int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine.selftest->run(engine.get(), level, first, &call), ENGINE_OK) << call.message();
  }
  std::string on_cpu, on_provider;
  const std::vector<float> expected = answer_of(engine, cpu, on_cpu);
  const std::vector<float> answer = answer_of(engine, first, on_provider);
  EXPECT_EQ(expected.size(), 256u);
  EXPECT_LT(worst_difference(answer, expected), 1e-5);
  EXPECT_THAT(on_cpu, StartsWith("CPUExecutionProvider "));
  EXPECT_THAT(on_provider, StartsWith(provider + " "));
  EXPECT_EQ(on_provider.find(','), std::string::npos) << on_provider;
}

// The refusal of a provider that found nothing to compute on.
void expect_no_device(const Engine& engine, const std::string& kind) {
  EXPECT_EQ(engine.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(engine.get(), nullptr);
  EXPECT_THAT(engine.call.message(),
              StartsWith("The execution provider " + kind +
                         " is loaded and offers no device on this machine. ONNX Runtime "
                         "found this hardware: CPU"));
}

TEST_F(OnnxRuntimeProvider, GgmlOffersADeviceBesideTheCpu) {
  if (const std::string why = add_runtime("1.30.0"); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = add("onnxruntime-ggml", "0.2.0", "onnxruntime_ggml*/*.so*"); !why.empty())
    GTEST_SKIP() << why;
  Engine engine(library, root, ggml);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  ASSERT_EQ(engine.devices->count(engine.get()), 2u);
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  ASSERT_EQ(engine.devices->info(engine.get(), 1, &info, &call), ENGINE_OK);
  EXPECT_EQ(info.device.type, ENGINE_OTHER_DEVICE);
  EXPECT_EQ(info.device.index, 0);
  EXPECT_STREQ(info.kind, "ggml");
  EXPECT_THAT(info.name, StartsWith("CPU"));
  Model second(engine, "onnx", three_nodes(), true, {}, {ENGINE_OTHER_DEVICE, 1});
  EXPECT_EQ(second.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(second.call.message(), "This build has cpu:0, ggml:0, not ggml:1.");
}

TEST_F(OnnxRuntimeProvider, GgmlComputesWhatTheCpuComputes) {
  if (const std::string why = add_runtime("1.30.0"); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = add("onnxruntime-ggml", "0.2.0", "onnxruntime_ggml*/*.so*"); !why.empty())
    GTEST_SKIP() << why;
  for (int time = 0; time < 2; time++) {  // the second engine uses what the first one registered
    Engine engine(library, root, ggml), beside(library, root, ggml);
    ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
    ASSERT_EQ(beside.status, ENGINE_OK) << beside.call.message();
    expect_the_answer_of_the_cpu(engine, "ggml");
  }
}

// Tensors of the device are in host memory, and say where they belong.
TEST_F(OnnxRuntimeProvider, OperationsComputeOnTheDeviceOfTheirInputs) {
  if (const std::string why = add_runtime("1.30.0"); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = add("onnxruntime-ggml", "0.2.0", "onnxruntime_ggml*/*.so*"); !why.empty())
    GTEST_SKIP() << why;
  Engine engine(library, root, ggml);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  Floats a({2, 2}, {1, 2, 3, 4}), on_cpu({2, 2}, {1, 2, 3, 4});
  a.tensor.device = first;
  Results results, refused;
  results.offer = true;  // the host's memory is not the device's
  Call call, of_two;
  ASSERT_EQ(engine.run("MatMul", {&a.tensor, &a.tensor}, results, call), ENGINE_OK) << call.message();
  EXPECT_THAT(results.of(0).as<float>(), testing::ElementsAre(7, 10, 15, 22));
  EXPECT_EQ(results.of(0).tensor.device.type, first.type);
  EXPECT_EQ(call.details["placement"], "ggml 1");
  EXPECT_EQ(engine.run("MatMul", {&a.tensor, &on_cpu.tensor}, refused, of_two), ENGINE_INVALID);
  EXPECT_EQ(of_two.message(), "Input 1 of MatMul is on cpu:0; input 0 is on ggml:0.");
  Call of_model;
  Results from_model;
  onnx::Graph graph;
  graph.nodes = {onnx::node("Relu", {"a"}, {"y"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"2", "2"})};
  graph.outputs = {onnx::value("y", onnx::float32, {"2", "2"})};
  Model model(engine, "onnx", graph.bytes(), true, {}, first);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  ASSERT_EQ(model.run({{0, &a.tensor}}, from_model, of_model), ENGINE_OK) << of_model.message();
  EXPECT_THAT(from_model.of(0).as<float>(), testing::ElementsAre(1, 2, 3, 4));
}

// Det is an operation that ggml lacks.
TEST_F(OnnxRuntimeProvider, NodesThatTheProviderLacksRunOnTheCpuOnlyIfAllowed) {
  if (const std::string why = add_runtime("1.30.0"); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = add("onnxruntime-ggml", "0.2.0", "onnxruntime_ggml*/*.so*"); !why.empty())
    GTEST_SKIP() << why;
  Engine engine(library, root, ggml);
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  onnx::Graph graph;
  graph.nodes = {onnx::node("MatMul", {"a", "a"}, {"m"}), onnx::node("Det", {"m"}, {"y"})};
  graph.inputs = {onnx::value("a", onnx::float32, {"2", "2"})};
  graph.outputs = {onnx::value("y", onnx::float32, {})};
  Model refused(engine, "onnx", graph.bytes(), true, {}, first);
  EXPECT_NE(refused.status, ENGINE_OK);
  // ggml takes a part of a model only if its own option says so.
  Model allowed(engine, "onnx", graph.bytes(), true,
                {{"onnxruntime.session.disable_cpu_ep_fallback", "0"}, {"onnxruntime.ep.ggml.partial", "1"}},
                first);
  ASSERT_EQ(allowed.status, ENGINE_OK) << allowed.call.message();
  Floats a({2, 2}, {1, 2, 3, 4});
  Results results;
  Call call;
  ASSERT_EQ(allowed.run({{0, &a.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_EQ(call.details["placement"], "CPUExecutionProvider 1, ggml 1");
  ASSERT_EQ(results.of(0).as<float>().size(), 1u);
  EXPECT_NEAR(results.of(0).as<float>()[0], 4, 1e-3);
}

TEST_F(OnnxRuntimeProvider, OpenvinoComputesOnIntelProcessorsOnly) {
  if (const std::string why = add_runtime("1.27.0"); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = add("onnxruntime-ep-openvino", "1.8.1", "onnxruntime_ep_openvino/*");
      !why.empty())
    GTEST_SKIP() << why;
  Engine engine(library, root, openvino);
  std::ifstream file("/proc/cpuinfo");
  const std::string processor{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (processor.find("GenuineIntel") == std::string::npos) {
    expect_no_device(engine, "openvino");
    return;
  }
  ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message();
  expect_the_answer_of_the_cpu(engine, "OpenVINOExecutionProvider");
}

TEST_F(OnnxRuntimeProvider, WebgpuWithoutAGpuIsRefusedWithTheHardwareFound) {
  if (const std::string why = add_runtime("1.27.0"); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = add("onnxruntime-ep-webgpu", "0.4.0", "onnxruntime_ep_webgpu/*.so");
      !why.empty())
    GTEST_SKIP() << why;
  Engine engine(library, root, webgpu);
  if (engine.status == ENGINE_OK)
    expect_the_answer_of_the_cpu(engine, "WebGpuExecutionProvider");
  else
    expect_no_device(engine, "webgpu");
}

TEST_F(OnnxRuntimeProvider, ARuntimeWithoutTheBuiltInProviderIsRefused) {
  if (const std::string why = add_runtime("1.27.0"); !why.empty()) GTEST_SKIP() << why;
  expect_no_device(Engine(library, root, {{"onnxruntime.provider", "dml"}}), "dml");
  Engine coreml(library, root, {{"onnxruntime.provider", "coreml"}});
  ASSERT_EQ(coreml.status, ENGINE_OK) << coreml.call.message();
  EXPECT_EQ(coreml.devices->count(coreml.get()), 2u);
  Call call;
  EXPECT_EQ(coreml.selftest->run(coreml.get(), 0, first, &call), ENGINE_UNAVAILABLE);
  EXPECT_THAT(call.message(), StartsWith("coreml:0 is not available: "));
  EXPECT_EQ(call.details["provider"], "CoreMLExecutionProvider");
}

TEST_F(OnnxRuntimeProvider, OptionsThatNameNoProviderAreRefused) {
  if (const std::string why = add_runtime("1.27.0"); !why.empty()) GTEST_SKIP() << why;
  Engine outside(library, root,
                 {{"onnxruntime.provider", "ggml"}, {"onnxruntime.provider_library", "../libggml.so"}});
  EXPECT_EQ(outside.status, ENGINE_INVALID);
  EXPECT_EQ(outside.call.details["option"], "onnxruntime.provider_library");
  Engine unknown(library, root, {{"onnxruntime.provider", "abacus"}});
  EXPECT_EQ(unknown.status, ENGINE_INVALID);
  EXPECT_EQ(unknown.call.details["option"], "onnxruntime.provider");
  Engine missing(library, root, ggml);
  EXPECT_EQ(missing.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(missing.call.message(), StartsWith("The execution provider ggml cannot be registered: "));
  EXPECT_EQ(missing.call.details["path"], root + "/onnxruntime_ggml/lib/libonnxruntime_ggml.so");
}

TEST_F(OnnxRuntimeProvider, ARuntimeThatIsTooOldIsNamed) {
  if (const std::string why = add_runtime("1.22.0"); !why.empty()) GTEST_SKIP() << why;
  Engine engine(library, root, ggml);
  EXPECT_EQ(engine.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine.call.details["required"], "1.23");
  EXPECT_EQ(engine.call.details["found"], "1.22.0");
}

}  // namespace
}  // namespace enginehost::engines::tests
