// Shapes that the CUDA engine computes before it uses a device, compared with the simplest way to do the
// same.
#include <gmock/gmock.h>

#include <random>

#include "engines/cuda/operation.hpp"

namespace enginehost::engines::cuda {
namespace {

// The index of element `index` of a result in an operand that was broadcast to it: axis by axis.
int64_t plainly(int64_t index, const Shape& result, const Shape& own) {
  std::vector<int64_t> at(result.size());
  for (size_t i = result.size(); i-- > 0; index /= result[i]) at[i] = index % result[i];
  int64_t out = 0;
  for (size_t i = 0; i < own.size(); i++) {
    const int64_t here = own[i] == 1 ? 0 : at[result.size() - own.size() + i];
    out = out * own[i] + here;
  }
  return out;
}

// A shape that broadcasts to `result`: leading axes left out, others made 1.
Shape narrowed(const Shape& result, std::mt19937& random) {
  Shape out = result;
  for (int64_t& size : out)
    if (random() % 3 == 0) size = 1;
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(random() % (out.size() + 1)));
  return out;
}

TEST(CudaShapes, EveryElementOfABroadcastResultFindsItsOperands) {
  std::mt19937 random(20261121);
  int walked = 0;
  for (int round = 0; round < 2000; round++) {
    Shape wanted(random() % 6);
    for (int64_t& size : wanted) size = 1 + static_cast<int64_t>(random() % 4);
    const Shape left = narrowed(wanted, random), right = narrowed(wanted, random);
    Shape result;
    ASSERT_TRUE(broadcast(left, right, result)) << text_of(left) << text_of(right);
    const Axes axes = axes_of(left, right, result, "Add");
    for (int64_t i = 0; i < elements_of(result); i++, walked++) {
      const Position from = position_of(axes, i);
      ASSERT_EQ(from.left, plainly(i, result, left)) << text_of(left) << text_of(right) << " element " << i;
      ASSERT_EQ(from.right, plainly(i, result, right)) << text_of(left) << text_of(right) << " element " << i;
      ASSERT_EQ(stack_position(i, result, left), from.left) << text_of(left) << text_of(right);
    }
  }
  EXPECT_GT(walked, 10000);
}

TEST(CudaShapes, AxesWithTheSameStridesAreMerged) {
  EXPECT_EQ(axes_of({2, 3, 4}, {2, 3, 4}, {2, 3, 4}, "Add").count, 1);
  EXPECT_EQ(axes_of({}, {2, 3, 4}, {2, 3, 4}, "Add").count, 1);
  EXPECT_EQ(axes_of({2, 3, 4}, {4}, {2, 3, 4}, "Add").count, 2);
  const Axes bias = axes_of({2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5}, "Add");
  ASSERT_EQ(bias.count, 3);
  EXPECT_THAT(std::vector<int64_t>(bias.right_step, bias.right_step + 3), testing::ElementsAre(0, 1, 0));
}

TEST(CudaShapes, SizesThatDifferAndAreNotOneDoNotFit) {
  Shape result;
  EXPECT_FALSE(broadcast({2, 3}, {2, 2}, result));
  ASSERT_TRUE(broadcast({0, 1}, {3}, result));
  EXPECT_THAT(result, testing::ElementsAre(0, 3));
}

}  // namespace
}  // namespace enginehost::engines::cuda
