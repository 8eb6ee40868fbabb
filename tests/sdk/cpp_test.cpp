// The C++ API where it is more than the C API: tensors of numbers, and members of its own structs.
#include <enginehost/enginehost.hpp>

#include <cstddef>
#include <stdexcept>

#include "tests/end-to-end/served.hpp"
#include "tests/sdk/fixture.hpp"

namespace enginehost::test {
namespace {

using testing::ElementsAre;

class CppInterface : public Sdk {
 protected:
  void SetUp() override { publish(); }
  sdk::Request asked() const {
    sdk::Request asked;
    asked.engine = "reference";
    asked.cache = cache_;
    asked.repositories = {repository_path_};
    return asked;
  }
};

template <class Number>
DLDataType type_of() {
  const std::vector<Number> one{1};
  const sdk::Tensor tensor(one, {1});
  return static_cast<const DLTensor*>(tensor.get())->dtype;
}

TEST_F(CppInterface, ATensorIsADlTensorOfItsNumbers) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const sdk::Tensor tensor(numbers, {3, 2});
  const auto* seen = static_cast<const DLTensor*>(tensor.get());
  EXPECT_EQ(seen->data, numbers.data());
  EXPECT_EQ(seen->device.device_type, kDLCPU);
  EXPECT_EQ(seen->device.device_id, 0);
  ASSERT_EQ(seen->ndim, 2);
  EXPECT_EQ(seen->shape[0], 3);
  EXPECT_EQ(seen->shape[1], 2);
  EXPECT_EQ(seen->strides, nullptr);
  EXPECT_EQ(seen->byte_offset, 0U);
  EXPECT_EQ(sizeof(sdk::detail::DlTensor), sizeof(DLTensor));
}

TEST_F(CppInterface, ATensorHasTheTypeOfItsNumbers) {
  const auto expect = [](DLDataType found, int code, int bits) {
    EXPECT_EQ(found.code, code);
    EXPECT_EQ(found.bits, bits);
    EXPECT_EQ(found.lanes, 1);
  };
  expect(type_of<float>(), kDLFloat, 32);
  expect(type_of<double>(), kDLFloat, 64);
  expect(type_of<std::int8_t>(), kDLInt, 8);
  expect(type_of<std::int64_t>(), kDLInt, 64);
  expect(type_of<std::uint8_t>(), kDLUInt, 8);
  expect(type_of<std::uint16_t>(), kDLUInt, 16);
}

TEST_F(CppInterface, AShapeThatDoesNotFitTheNumbersIsRefused) {
  const std::vector<float> numbers{1, 2, 3};
  EXPECT_THROW(sdk::Tensor(numbers, {2, 2}), std::invalid_argument);
  EXPECT_THROW(sdk::Tensor(numbers, {}), std::invalid_argument);  // a scalar
  EXPECT_THROW(sdk::Tensor(numbers, {-1, -3}), std::invalid_argument);
  EXPECT_NO_THROW(sdk::Tensor(std::vector<float>{}, {0, 4}));
}

TEST_F(CppInterface, ARunTakesAndReturnsNumbers) {
  sdk::Engine engine = sdk::Engine::open(asked());
  sdk::Model model = engine.load(demo_model());
  const std::vector<float> numbers{1, 2, -1, 4};
  const sdk::Tensor x(numbers, {2, 2});
  const sdk::Outputs outputs = model.run({{"x", x.get()}});
  EXPECT_THAT(outputs.numbers<float>(0), ElementsAre(2, 4, 0, 1, 8, 2));
  EXPECT_THAT(outputs.shape(0), ElementsAre(2, 3));
  EXPECT_THROW(outputs.numbers<double>(0), std::invalid_argument);
  EXPECT_THROW(outputs.numbers<std::int32_t>(0), std::invalid_argument);
  EXPECT_THROW(outputs.numbers<float>(1), std::invalid_argument);
  EXPECT_THROW(outputs.shape(1), std::invalid_argument);
}

TEST_F(CppInterface, PortsHaveTheirType) {
  sdk::Engine engine = sdk::Engine::open(asked());
  const std::vector<sdk::Port> inputs = engine.load(demo_model()).inputs();
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].dtype_code, kDLFloat);
  EXPECT_EQ(inputs[0].dtype_bits, 32);
}

TEST_F(CppInterface, AModelIsLoadedByItsFormat) {
  sdk::Engine engine = sdk::Engine::open(asked());
  EXPECT_THROW(engine.load(demo_model(), "", {}, "onnx"), sdk::Error);
  EXPECT_EQ(engine.load(demo_model(), "", {}, "reference").inputs().size(), 1U);
}

TEST_F(CppInterface, AllowsAnUnsignedRepositoryForThisRequest) {
  Served served;
  served.publish();
  sdk::Request wanted = asked();
  wanted.repositories = {served.location()};
  try {
    sdk::Engine::open(wanted);
    FAIL() << "an unsigned repository was used";
  } catch (const sdk::Error& refused) {
    EXPECT_EQ(refused.code(), "EH-M10") << refused.what();
  }
  wanted.allow_unsigned = true;
  EXPECT_NO_THROW(sdk::Engine::open(wanted));
}

TEST_F(CppInterface, ReportsVersionMachineAndTitle) {
  EXPECT_EQ(sdk::version(), enginehost_version());
  EXPECT_NE(sdk::platform().find("\"platform\""), std::string::npos);
  sdk::Request unknown = asked();
  unknown.engine = "refrence";
  try {
    sdk::Engine::open(unknown);
    FAIL() << "it opened";
  } catch (const sdk::Error& refused) {
    EXPECT_FALSE(refused.title().empty());
  }
}

}  // namespace
}  // namespace enginehost::test
