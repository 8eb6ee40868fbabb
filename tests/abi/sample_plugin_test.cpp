// The sample that authors start from: how it treats shapes that no memory holds.
#include <gmock/gmock.h>

#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

constexpr std::int64_t many = std::int64_t{1} << 40;

class SamplePlugin : public testing::Test {
 protected:
  engine_status run(const char* name, const Floats& left, const Floats& right, bool offer = false) {
    results_.offer = offer;
    return engine_.run(name, {&left.tensor, &right.tensor}, results_, call_);
  }
  Library library_{SAMPLE_PLUGIN};
  Engine engine_{library_, "/"};
  Results results_;
  Call call_;
};

// 2^40 by 2^40 elements: counted in 64 bits they are 2^80, which is 0.
TEST_F(SamplePlugin, AnAnswerLargerThanAnyMemoryIsRefused) {
  EXPECT_EQ(run("MatMul", Floats({many, 0}, {}), Floats({0, many}, {})), ENGINE_INVALID);
  EXPECT_THAT(call_.message(), testing::HasSubstr("larger than any memory"));
  EXPECT_TRUE(results_.values.empty());
}

TEST_F(SamplePlugin, RefusesAnImpossibleInput) {
  const Floats left({many, many}, {1}), negative({2, -1}, {1, 2});
  EXPECT_EQ(run("Add", left, left), ENGINE_INVALID);
  EXPECT_EQ(run("Add", negative, negative), ENGINE_INVALID);
  EXPECT_THAT(call_.message(), testing::HasSubstr("negative or too large"));
}

TEST_F(SamplePlugin, AnAnswerWithoutElementsTakesNoTime) {
  ASSERT_EQ(run("MatMul", Floats({many, 0}, {}), Floats({0, 0}, {})), ENGINE_OK) << call_.message();
  ASSERT_EQ(results_.values.size(), 1u);
  EXPECT_THAT(results_.of(0).shape, testing::ElementsAre(many, 0));
  EXPECT_EQ(call_.cancel_looks, 0) << "one for each of the rows";
  ASSERT_EQ(run("MatMul", Floats({2, 0}, {}), Floats({0, 2}, {}), true), ENGINE_OK);
  EXPECT_THAT(results_.values.back()->as<float>(), testing::ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace enginehost::engines::tests
