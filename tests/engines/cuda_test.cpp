// The CUDA engine over the toolkit it was compiled with. Tests that need a GPU are skipped without one; the
// tests that requests are checked, and refused with the reason, are not.
#include <gmock/gmock.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "host/binary/binary.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr engine_device cuda = {ENGINE_CUDA, 0};
const std::string file = ENGINEHOST_CUDA_ENGINE;

// GoogleTest's own expressions have no [0-9] on Windows.
bool matches(const std::string& text, const char* pattern) {
  return std::regex_match(text, std::regex(pattern));
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(engine.status, ENGINE_OK) << engine.call.message(); }
  uint32_t devices() const { return engine.devices->count(engine.get()); }
  // Runs an operation that must be refused.
  std::string refused(engine_status status, const char* name, std::vector<const engine_tensor*> inputs,
                      std::vector<engine_entry> attributes = {}) {
    Results results;
    Call call;
    EXPECT_EQ(engine.run(name, std::move(inputs), results, call, std::move(attributes)), status)
        << name << ": " << call.message();
    EXPECT_TRUE(results.values.empty());
    return call.message();
  }

  Library library{file};
  Engine engine{library, testing::TempDir()};
};

TEST(CudaFile, HoldsCodeForEveryRequestedArchitectureAndPtxOfTheNewest) {
  std::vector<std::string> expected, found;
  std::istringstream words(ENGINEHOST_CUDA_CODE);  // "sass 7.5 8.0 ptx 8.0"
  std::string kind;
  for (std::string word; words >> word;) {
    if (word == "sass" || word == "ptx")
      kind = word;
    else
      expected.push_back(kind + " " + word);
  }
  ASSERT_GT(expected.size(), 1u);
  const auto read = binary::gpu_code(file);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->note, "");
  for (const auto& entry : read->entries) found.push_back(entry.kind + " " + entry.arch);
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
}

TEST_F(Cuda, ReportsTheLoadedLibraries) {
  EXPECT_STREQ(library->engine, "cuda");
  EXPECT_EQ(library->flags & ENGINE_PLUGIN_UNLOADABLE, 0u);
  EXPECT_TRUE(matches(engine.fact("cuda"), "1[13]\\.[0-9]+")) << engine.fact("cuda");
  EXPECT_THAT(engine.fact("cudnn"), StartsWith("9."));
  EXPECT_TRUE(matches(engine.fact("cublas"), "[0-9]+\\.[0-9]+\\.[0-9]+")) << engine.fact("cublas");
  EXPECT_EQ(engine.fact("code"), ENGINEHOST_CUDA_CODE);
  EXPECT_EQ(engine.models, nullptr);
}

TEST_F(Cuda, WithoutADriverThereIsNoDeviceAndAReason) {
  if (devices() != 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(engine.fact("no_device"), HasSubstr("cudaGetDeviceCount failed: cudaError"));
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  EXPECT_EQ(engine.devices->info(engine.get(), 0, &info, &call), ENGINE_INVALID);
  EXPECT_THAT(call.message(), HasSubstr(engine.fact("no_device")));
}

TEST_F(Cuda, WithoutADriverDeviceWorkIsUnavailableWithTheCudaCode) {
  if (devices() != 0) GTEST_SKIP() << "this machine has a GPU";
  Floats a({2}, {1, 2});
  auto expect_reported = [](const Call& call) {
    ASSERT_FALSE(call.reports.empty());
    EXPECT_EQ(call.reports[0].status, ENGINE_UNAVAILABLE);
    EXPECT_EQ(call.reports[0].origin, "cuda");
    EXPECT_NE(call.reports[0].native, 0);
    EXPECT_THAT(call.message(), HasSubstr("cudaError"));
    EXPECT_EQ(call.details.at("call"), "cudaGetDeviceCount");
    EXPECT_EQ(call.details.at("device"), "cuda:0");
  };
  for (int32_t level : {0, 1, 2}) {
    Call call;
    EXPECT_EQ(engine.selftest->run(engine.get(), level, cuda, &call), ENGINE_UNAVAILABLE);
    expect_reported(call);
  }
  Call in_operation, in_tensor, in_copy;
  Results results;
  EXPECT_EQ(engine.run("Add", {&a.tensor, &a.tensor}, results, in_operation), ENGINE_UNAVAILABLE);
  expect_reported(in_operation);
  engine_tensor there = a.tensor;
  there.device = cuda;
  engine_owned_tensor* made = nullptr;
  EXPECT_EQ(engine.tensors->create(engine.get(), &there, &made, &in_tensor), ENGINE_UNAVAILABLE);
  EXPECT_EQ(made, nullptr);
  expect_reported(in_tensor);
  EXPECT_EQ(engine.tensors->copy(engine.get(), &a.tensor, &there, &in_copy), ENGINE_UNAVAILABLE);
  expect_reported(in_copy);
}

TEST_F(Cuda, HostMemoryIsServedWithoutADevice) {
  Floats a({2}, {1, 2}), b({2}, {0, 0});
  Call call;
  engine_owned_tensor* made = nullptr;
  ASSERT_EQ(engine.tensors->create(engine.get(), &a.tensor, &made, &call), ENGINE_OK);
  made->release(made);
  ASSERT_EQ(engine.tensors->copy(engine.get(), &a.tensor, &b.tensor, &call), ENGINE_OK);
  EXPECT_THAT(b.data, ElementsAre(1, 2));
}

TEST_F(Cuda, RefusesRequestsWithTheReasonOnAnyMachine) {
  Floats a({2, 3}, {1, 2, 3, 4, 5, 6}), b({2, 2}, {1, 2, 3, 4}), scalar({}, {1});
  Owned<double> doubles({ENGINE_FLOAT, 64, 1}, {1}, {1});
  EXPECT_THAT(refused(ENGINE_UNSUPPORTED, "Nonsense", {&a.tensor}), HasSubstr("it has Add, Conv, MatMul"));
  EXPECT_THAT(refused(ENGINE_INVALID, "Relu", {&a.tensor, &b.tensor}), HasSubstr("takes 1 inputs, and 2"));
  EXPECT_THAT(refused(ENGINE_UNSUPPORTED, "Relu", {&doubles.tensor}), HasSubstr("is float64"));
  EXPECT_THAT(refused(ENGINE_INVALID, "Add", {&a.tensor, &b.tensor}), HasSubstr("[2,3] and [2,2]"));
  EXPECT_THAT(refused(ENGINE_INVALID, "Add", {&a.tensor, &a.tensor}, {{"axis", "1"}}),
              HasSubstr("no attribute \"axis\""));
  EXPECT_THAT(refused(ENGINE_INVALID, "MatMul", {&a.tensor, &b.tensor}), HasSubstr("last but one"));
  EXPECT_THAT(refused(ENGINE_INVALID, "MatMul", {&a.tensor, &scalar.tensor}), HasSubstr("no matrix"));
  EXPECT_THAT(refused(ENGINE_INVALID, "Softmax", {&a.tensor}, {{"axis", "2"}}), HasSubstr("axis 2"));
  engine_tensor there = b.tensor;
  there.device = cuda;
  EXPECT_THAT(refused(ENGINE_INVALID, "Add", {&b.tensor, &there}), HasSubstr("live on cpu:0 and cuda:0"));
}

TEST_F(Cuda, RefusesConvolutionsThatDoNotFit) {
  Floats image({1, 2, 3, 3}, std::vector<float>(18, 1)), weights({2, 2, 2, 2}, std::vector<float>(16, 1));
  Floats bias({3}, {1, 2, 3}), line({1, 1, 3}, {1, 2, 3});
  auto conv = [&](std::vector<engine_entry> attributes) {
    return refused(ENGINE_INVALID, "Conv", {&image.tensor, &weights.tensor}, std::move(attributes));
  };
  EXPECT_THAT(conv({{"group", "2"}}), HasSubstr("in 2 groups"));
  EXPECT_THAT(conv({{"kernel_shape", "3,3"}}), HasSubstr("[2,2,2,2]"));
  EXPECT_THAT(conv({{"dilations", "4,4"}}), HasSubstr("covers 5 pixels"));
  EXPECT_THAT(conv({{"strides", "0,1"}}), HasSubstr("\"strides\""));
  EXPECT_THAT(conv({{"auto_pad", "SAME"}}), HasSubstr("not \"SAME\""));
  EXPECT_THAT(refused(ENGINE_INVALID, "Conv", {&image.tensor, &weights.tensor, &bias.tensor}),
              HasSubstr("one bias"));
  EXPECT_THAT(refused(ENGINE_UNSUPPORTED, "Conv", {&line.tensor, &line.tensor}), HasSubstr("two axes"));
  Floats five({1, 1, 5, 5}, std::vector<float>(25)), three({1, 1, 3, 3}, std::vector<float>(9));
  const std::vector<engine_entry> wide{{"auto_pad", "SAME_UPPER"}, {"dilations", "536870911,536870911"}};
  EXPECT_THAT(refused(ENGINE_UNSUPPORTED, "Conv", {&five.tensor, &five.tensor}, wide),
              HasSubstr("padded to 2147483649 pixels"));
  EXPECT_THAT(refused(ENGINE_INVALID, "Conv", {&five.tensor, &three.tensor}, wide),
              HasSubstr("The padded image of Conv is larger than any memory"));
}

TEST_F(Cuda, RefusesResultsLargerThanAnyMemoryAndPatternsItHasNoKernelFor) {
  // Both repeat as often as possible: 2^60 elements from two times 2^30, none of which is ever read.
  float one = 0;
  const int64_t tall[] = {int64_t{1} << 30, 1}, wide[] = {1, int64_t{1} << 30};
  const engine_tensor a = {&one, cpu, 2, {ENGINE_FLOAT, 32, 1}, tall, nullptr, 0};
  const engine_tensor b = {&one, cpu, 2, {ENGINE_FLOAT, 32, 1}, wide, nullptr, 0};
  EXPECT_THAT(refused(ENGINE_INVALID, "Add", {&a, &b}), HasSubstr("larger than any memory"));
  Floats left({2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, std::vector<float>(32)),
      right({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, std::vector<float>(32));
  EXPECT_THAT(refused(ENGINE_UNSUPPORTED, "Add", {&left.tensor, &right.tensor}),
              HasSubstr("alternates 10 times"));
}

TEST_F(Cuda, AcceptsItsOptionsOnly) {
  auto answer = [&](std::vector<engine_entry> options) {
    const Engine made(library, testing::TempDir(), std::move(options));
    if (made.status != ENGINE_OK) {
      EXPECT_EQ(made.status, ENGINE_INVALID);
      EXPECT_EQ(made.call.details.count("option"), 1u);
    }
    return made.call.message();
  };
  EXPECT_EQ(answer({{"cuda.tf32", "1"}, {"threads", "4"}, {"cuda.device", "0"}}), "");
  EXPECT_THAT(answer({{"cuda.tf32", "yes"}}), HasSubstr("0 or 1"));
  EXPECT_THAT(answer({{"cuda.device", "-1"}}), HasSubstr("\"-1\""));
  EXPECT_THAT(answer({{"cuda.nonsense", "1"}}), HasSubstr("cuda.nonsense"));
}

// The following tests need a GPU; engines/cuda/README.md lists where they ran.
class CudaDevice : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    if (devices() == 0) GTEST_SKIP() << engine.fact("no_device");
  }
  std::vector<float> computed(const char* name, std::vector<const engine_tensor*> inputs,
                              std::vector<engine_entry> attributes = {}) {
    Results results;
    Call call;
    EXPECT_EQ(engine.run(name, std::move(inputs), results, call, std::move(attributes)), ENGINE_OK)
        << name << ": " << call.message();
    return results.values.empty() ? std::vector<float>{} : results.of(0).as<float>();
  }
};

TEST_F(CudaDevice, IsDescribedAndPassesItsSelfTest) {
  engine_device_info info{};
  info.size = sizeof info;
  Call call;
  for (int32_t level : {0, 1, 2})
    ASSERT_EQ(engine.selftest->run(engine.get(), level, cuda, &call), ENGINE_OK) << call.message();
  ASSERT_EQ(engine.devices->info(engine.get(), 0, &info, &call), ENGINE_OK) << call.message();
  EXPECT_STREQ(info.kind, "cuda");
  EXPECT_GT(info.memory_total, info.memory_free);
  EXPECT_GT(info.memory_free, 0u);
  EXPECT_TRUE(matches(info.architecture, "[0-9]+\\.[0-9]")) << info.architecture;
}

TEST_F(CudaDevice, ComputesEveryOperation) {
  Floats a({2, 3}, {1, -2, 3, -4, 5, -6}), b({3, 2}, {1, 2, 3, 4, 5, 6}), row({3}, {10, 20, 30}),
      column({2, 1}, {1, 2});
  EXPECT_THAT(computed("Add", {&a.tensor, &row.tensor}), ElementsAre(11, 18, 33, 6, 25, 24));
  EXPECT_THAT(computed("Add", {&row.tensor, &column.tensor}), ElementsAre(11, 21, 31, 12, 22, 32));
  EXPECT_THAT(computed("Mul", {&a.tensor, &row.tensor}), ElementsAre(10, -40, 90, -40, 100, -180));
  EXPECT_THAT(computed("Relu", {&a.tensor}), ElementsAre(1, 0, 3, 0, 5, 0));
  EXPECT_THAT(computed("MatMul", {&a.tensor, &b.tensor}), ElementsAre(10, 12, -19, -24));
  EXPECT_THAT(computed("MatMul", {&row.tensor, &b.tensor}), ElementsAre(220, 280));
  const std::vector<float> soft = computed("Softmax", {&a.tensor}, {{"axis", "0"}});
  ASSERT_EQ(soft.size(), 6u);
  EXPECT_NEAR(soft[0], 1 / (1 + std::exp(-5.0)), 1e-6);
  EXPECT_NEAR(soft[1] + soft[4], 1, 1e-6);
}

TEST_F(CudaDevice, MultipliesStacksThatRepeat) {
  // [2,1,1,2] by [3,2,1]: every left row times every right column.
  Floats left({2, 1, 1, 2}, {1, 2, 3, 4}), right({3, 2, 1}, {1, 1, 0, 1, 2, 0});
  EXPECT_THAT(computed("MatMul", {&left.tensor, &right.tensor}), ElementsAre(3, 2, 2, 7, 4, 6));
}

TEST_F(CudaDevice, ConvolvesWithUnevenPadsGroupsAndABias) {
  // One row of zeros above only: each result is the sum of the 2 x 1 window that ends there.
  Floats image({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}), kernel({1, 1, 2, 1}, {1, 1});
  EXPECT_THAT(computed("Conv", {&image.tensor, &kernel.tensor}, {{"pads", "1,0,0,0"}}),
              ElementsAre(1, 2, 4, 6, 8, 10));
  Floats two({1, 2, 1, 2}, {1, 2, 3, 4}), each({2, 1, 1, 1}, {10, 100}), bias({2}, {1, 2});
  EXPECT_THAT(computed("Conv", {&two.tensor, &each.tensor, &bias.tensor}, {{"group", "2"}}),
              ElementsAre(11, 21, 302, 402));
}

TEST_F(CudaDevice, LeavesResultsWhereTheInputsAreAndReportsTransfers) {
  Floats a({2}, {1, 2}), back({2}, {0, 0});
  Call call;
  engine_tensor like = a.tensor;
  like.device = cuda;
  engine_owned_tensor* made = nullptr;
  ASSERT_EQ(engine.tensors->create(engine.get(), &like, &made, &call), ENGINE_OK) << call.message();
  ASSERT_EQ(engine.tensors->copy(engine.get(), &a.tensor, &made->tensor, &call), ENGINE_OK) << call.message();
  {
    Results results;
    Call on_device;
    ASSERT_EQ(engine.run("Add", {&made->tensor, &made->tensor}, results, on_device), ENGINE_OK)
        << on_device.message();
    EXPECT_EQ(results.of(0).tensor.device.type, ENGINE_CUDA);
    EXPECT_EQ(on_device.progress_calls, 0);
    ASSERT_EQ(engine.tensors->copy(engine.get(), &results.of(0).tensor, &back.tensor, &call), ENGINE_OK);
    EXPECT_THAT(back.data, ElementsAre(2, 4));
    Results on_host;
    Call with_transfers;
    ASSERT_EQ(engine.run("Add", {&a.tensor, &a.tensor}, on_host, with_transfers), ENGINE_OK);
    EXPECT_GE(with_transfers.progress_calls, 3);
  }
  made->release(made);
}

}  // namespace
}  // namespace enginehost::engines::tests
