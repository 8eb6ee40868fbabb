// Tensors that an application passes, and the form in which a plugin gets them.
#include <cstring>
#include <functional>

#include "tests/sdk/played_engine.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
// An allocation that is too large returns nothing, as without a sanitizer, which would stop the test.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class Tensors : public PlayedEngine {
 protected:
  void SetUp() override {
    PlayedEngine::SetUp();
    model_ = load("cpu");
    ASSERT_TRUE(model_) << said();
  }
  // The text of EH-P44, or the other result.
  std::string refused(const DLTensor& tensor) {
    const Seen seen = run(model_.get(), tensor);
    return seen.ran ? "it ran" : code() == "EH-P44" ? said() : "not EH-P44: " + said();
  }
  DLManagedTensorVersioned* copy(const DLTensor& tensor, const char* device) {
    DLManagedTensorVersioned* out = nullptr;
    enginehost_error* error = nullptr;
    status_ = enginehost_tensor_copy(engine_.get(), &tensor, device, nullptr, &out, &error);
    error_.reset(error);
    return out;
  }

  Handle<enginehost_model> model_;
  Numbers x_{{1, 2, 3, 4, 5, 6}};
};

TEST_F(Tensors, ReachThePluginWithoutStrides) {
  std::int64_t strides[] = {2, 1};
  x_.tensor.strides = strides;
  const Seen seen = run(model_.get(), x_.tensor);
  ASSERT_TRUE(seen.ran) << said();
  EXPECT_TRUE(seen.without_strides);
  EXPECT_EQ(seen.rank, 2);
  EXPECT_EQ(x_.tensor.strides, strides);  // the application's tensor is unchanged
}

TEST_F(Tensors, ReachThePluginAlignedToTheirElements) {
  for (const std::uint64_t offset : {0u, 1u, 2u, 4u, 7u}) {
    x_.tensor.byte_offset = offset;
    x_.shape[0] = 2;
    const Seen seen = run(model_.get(), x_.tensor);
    ASSERT_TRUE(seen.ran) << said();
    EXPECT_EQ(seen.behind_a_multiple, 0) << offset;
  }
}

TEST_F(Tensors, OnADeviceMustBeginAtAnElement) {
  const auto on_device = load("cuda:0");
  ASSERT_TRUE(on_device) << said();
  x_.tensor.device = {kDLCUDA, 0};
  x_.shape[0] = 2;
  EXPECT_TRUE(run(on_device.get(), x_.tensor).ran) << said();
  x_.tensor.byte_offset = 2;
  EXPECT_FALSE(run(on_device.get(), x_.tensor).ran);
  EXPECT_EQ(code(), "EH-P44") << said();
  EXPECT_THAT(said(), HasSubstr("between two elements"));
}

TEST_F(Tensors, WithoutAShapeAreRefused) {
  x_.tensor.shape = nullptr;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("shape is NULL"));
  x_.tensor.ndim = 0;  // a scalar needs no shape
  EXPECT_EQ(run(model_.get(), x_.tensor).rank, 0) << said();
}

TEST_F(Tensors, WithANegativeRankOrSeveralLanesAreRefused) {
  x_.tensor.ndim = -3;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("ndim is -3"));
  x_.tensor.ndim = 2;
  x_.tensor.dtype.lanes = 4;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("float32 in 4 lanes[3, 2]"));
  x_.tensor.dtype.lanes = 0;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("0 lanes"));
}

TEST_F(Tensors, WithImpossibleExtentsAreRefused) {
  x_.shape[0] = -2;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("float32[-2, 2]"));
  x_.shape[0] = std::int64_t{1} << 62;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("bytes can be counted"));
}

TEST_F(Tensors, NeedDataUnlessTheyHaveNoElements) {
  x_.tensor.data = nullptr;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("data is NULL"));
  x_.shape[1] = 0;
  EXPECT_TRUE(run(model_.get(), x_.tensor).ran) << said();
}

TEST_F(Tensors, WithGapsAreNeitherRunNorCopied) {
  std::int64_t transposed[] = {1, 3};
  x_.tensor.strides = transposed;
  EXPECT_THAT(refused(x_.tensor), HasSubstr("gaps between its elements"));
  EXPECT_EQ(copy(x_.tensor, "cuda:0"), nullptr);
  EXPECT_EQ(status_, ENGINEHOST_INVALID);
  EXPECT_EQ(code(), "EH-P44") << said();
  x_.tensor.strides = nullptr;
  x_.tensor.shape = nullptr;
  EXPECT_EQ(copy(x_.tensor, "cuda:0"), nullptr);
  EXPECT_EQ(code(), "EH-P44") << said();
}

TEST_F(Tensors, TooLargeToCopyAreNoInternalError) {
  x_.shape[0] = std::int64_t{1} << 48;
  x_.tensor.byte_offset = 1;
  EXPECT_FALSE(run(model_.get(), x_.tensor).ran);
  EXPECT_EQ(code(), "EH-E01") << said();
  EXPECT_THAT(said(), HasSubstr("no memory for a copy of x"));
}

TEST_F(Tensors, GivenTwiceForOneInputAreRefused) {
  const enginehost_input inputs[] = {{"x", &x_.tensor}, {"x", &x_.tensor}};
  enginehost_outputs* outputs = nullptr;
  enginehost_error* error = nullptr;
  EXPECT_EQ(enginehost_model_run(model_.get(), inputs, 2, nullptr, &outputs, &error), ENGINEHOST_INVALID);
  error_.reset(error);
  EXPECT_EQ(code(), "EH-P45");
  EXPECT_THAT(said(), HasSubstr("two tensors are given for the input x"));
}

TEST_F(Tensors, OnAnUnknownDeviceAreNotCopied) {
  for (const DLDevice device : {DLDevice{kDLCUDA, 7}, DLDevice{kDLVulkan, 0}}) {
    x_.tensor.device = device;
    for (const char* to : {"cpu", "cuda:0"}) {
      EXPECT_EQ(copy(x_.tensor, to), nullptr);
      EXPECT_EQ(code(), "EH-P49") << said();
    }
  }
  x_.tensor.device = {kDLCUDA, 0};
  DLManagedTensorVersioned* const made = copy(x_.tensor, "cpu");
  ASSERT_NE(made, nullptr) << said();
  made->deleter(made);
}

TEST_F(Tensors, StringElementsHave128Bits) {
  x_.tensor.dtype = {ENGINEHOST_DTYPE_STRING, 64, 1};
  EXPECT_THAT(refused(x_.tensor), HasSubstr("strings of 64 bits"));
}

TEST_F(Tensors, StringsStayInHostMemory) {
  const enginehost_string words[] = {{"a", 1}, {"bc", 2}};
  std::int64_t shape[] = {2};
  DLTensor text{};
  text.data = const_cast<enginehost_string*>(words);
  text.device = {kDLCPU, 0};
  text.ndim = 1;
  text.dtype = {ENGINEHOST_DTYPE_STRING, 128, 1};
  text.shape = shape;
  EXPECT_TRUE(run(model_.get(), text).ran) << said();
  EXPECT_EQ(copy(text, "cuda:0"), nullptr);
  EXPECT_EQ(code(), "EH-P44") << said();
}

}  // namespace
}  // namespace enginehost::test
