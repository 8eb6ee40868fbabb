// Every operation of the reference engine, with every set of kernels that this processor supports, against
// its definition.
#include <cmath>
#include <cstring>

#include "tests/engines/naive.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

class ReferenceOperations : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    engine =
        std::make_unique<Engine>(library, "/", std::vector<engine_entry>{{"reference.kernels", GetParam()}});
    if (engine->status == ENGINE_UNAVAILABLE) GTEST_SKIP() << "skipped: " << engine->call.message();
    ASSERT_EQ(engine->status, ENGINE_OK);
    EXPECT_EQ(engine->fact("kernels"), GetParam());
  }
  std::vector<float> compute(const char* name, std::vector<const engine_tensor*> inputs,
                             std::vector<engine_entry> attributes = {},
                             std::vector<int64_t>* shape = nullptr) {
    std::vector<float> answers[2];
    for (bool offer : {false, true}) {
      Results results;
      Call call;
      results.offer = offer;
      results.misalign = 4;
      EXPECT_EQ(engine->run(name, inputs, results, call, attributes), ENGINE_OK) << call.message();
      if (results.values.size() != 1) return {};
      EXPECT_EQ(results.values[0]->placed, offer);
      answers[offer] = results.of(0).as<float>();
      if (shape != nullptr) *shape = results.of(0).shape;
    }
    // Compares bits, because a NaN differs from itself.
    EXPECT_EQ(answers[0].size(), answers[1].size());
    if (answers[0].size() == answers[1].size() && !answers[0].empty()) {
      EXPECT_EQ(std::memcmp(answers[0].data(), answers[1].data(), answers[0].size() * sizeof(float)), 0);
    }
    return answers[0];
  }

  Library library{plugin_path("reference")};
  std::unique_ptr<Engine> engine;
};
using Shape = std::vector<int64_t>;

// The error of float32 in a sum of `depth` products of values up to 1: half a unit in the last place for
// each.
double tolerance(int64_t depth) { return 1e-6 + static_cast<double>(depth) * 6e-8; }

TEST_P(ReferenceOperations, AddAndMulComputeEveryLengthUpToSomeVectors) {
  for (int64_t count = 0; count < 70; count++) {
    Floats a({count}, random_floats(static_cast<size_t>(count), 1));
    Floats b({count}, random_floats(static_cast<size_t>(count), 2));
    std::vector<float> sum, product;
    for (size_t i = 0; i < a.data.size(); i++) {
      sum.push_back(a.data[i] + b.data[i]);
      product.push_back(a.data[i] * b.data[i]);
    }
    EXPECT_EQ(compute("Add", {&a.tensor, &b.tensor}), sum);
    EXPECT_EQ(compute("Mul", {&a.tensor, &b.tensor}), product);
  }
}

TEST_P(ReferenceOperations, BroadcastingFollowsTheRuleOfOnnx) {
  const std::vector<std::pair<Shape, Shape>> pairs = {{{2, 3, 4}, {4}},
                                                      {{4}, {2, 3, 4}},
                                                      {{2, 3, 4}, {3, 1}},
                                                      {{2, 1, 4}, {3, 1}},
                                                      {{5}, {}},
                                                      {{}, {5}},
                                                      {{}, {}},
                                                      {{2, 3, 4, 5}, {2, 1, 4, 1}},
                                                      {{1, 3, 1}, {2, 1, 7}},
                                                      {{1}, {1, 1, 1}},
                                                      {{3, 0}, {3, 1}},
                                                      {{6, 33}, {6, 1}},
                                                      {{6, 33}, {1, 33}},
                                                      {{2, 3, 1, 1}, {5, 40}},
                                                      {{8, 1, 6, 1}, {7, 1, 5}}};
  for (const auto& [left, right] : pairs) {
    auto count = [](const Shape& shape) {
      size_t n = 1;
      for (int64_t size : shape) n *= static_cast<size_t>(size);
      return n;
    };
    Floats a(left, random_floats(count(left), 3)), b(right, random_floats(count(right), 4));
    size_t rank = std::max(left.size(), right.size());
    Shape wide_left(rank - left.size(), 1), wide_right(rank - right.size(), 1), expected_shape(rank);
    wide_left.insert(wide_left.end(), left.begin(), left.end());
    wide_right.insert(wide_right.end(), right.begin(), right.end());
    for (size_t i = 0; i < rank; i++) expected_shape[i] = wide_left[i] == 1 ? wide_right[i] : wide_left[i];
    std::vector<float> expected(count(expected_shape));
    for (size_t n = 0; n < expected.size(); n++) {
      size_t rest = n, in_left = 0, in_right = 0, step_left = 1, step_right = 1;
      for (size_t i = rank; i-- > 0;) {
        size_t at = rest % static_cast<size_t>(expected_shape[i]);
        rest /= static_cast<size_t>(expected_shape[i]);
        if (wide_left[i] != 1) in_left += at * step_left;
        if (wide_right[i] != 1) in_right += at * step_right;
        step_left *= static_cast<size_t>(wide_left[i]);
        step_right *= static_cast<size_t>(wide_right[i]);
      }
      expected[n] = a.data[in_left] + b.data[in_right];
    }
    Shape shape;
    EXPECT_EQ(compute("Add", {&a.tensor, &b.tensor}, {}, &shape), expected)
        << testing::PrintToString(left) << " and " << testing::PrintToString(right);
    EXPECT_EQ(shape, expected_shape);
  }
}

TEST_P(ReferenceOperations, LargeSumsThatBypassTheCachesAreRightToTheLastElement) {
  const size_t count = 5'000'003;
  Floats a({static_cast<int64_t>(count)}, random_floats(count, 5));
  Floats one({}, {1});
  std::vector<float> sum = compute("Add", {&a.tensor, &a.tensor});
  std::vector<float> plus_one = compute("Add", {&one.tensor, &a.tensor});
  std::vector<float> positive = compute("Relu", {&a.tensor});
  ASSERT_EQ(sum.size(), count);
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) {
    wrong += sum[i] != a.data[i] + a.data[i] || plus_one[i] != a.data[i] + 1 ||
             positive[i] != std::max(0.0f, a.data[i]);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_P(ReferenceOperations, ReluKeepsNanAndInfinity) {
  Floats a({5}, {-1, 2, NAN, INFINITY, -INFINITY});
  std::vector<float> answer = compute("Relu", {&a.tensor});
  ASSERT_EQ(answer.size(), 5u);
  EXPECT_EQ(answer[0], 0);
  EXPECT_EQ(answer[1], 2);
  EXPECT_TRUE(std::isnan(answer[2]));
  EXPECT_EQ(answer[3], INFINITY);
  EXPECT_EQ(answer[4], 0);
}

TEST_P(ReferenceOperations, MatrixProductsOfEverySmallSizeAndSomeLargeOnesAreRight) {
  std::vector<std::array<int64_t, 3>> sizes = {{2, 2, 0},      {0, 3, 4},      {193, 65, 257}, {13, 2049, 3},
                                               {385, 33, 512}, {1, 1000, 300}, {300, 1, 1000}};
  for (int64_t m : {1, 2, 5, 6, 7, 12, 13, 25}) {
    for (int64_t n : {1, 7, 8, 9, 31, 32, 33, 65}) {
      for (int64_t k : {1, 2, 17}) sizes.push_back({m, n, k});
    }
  }
  for (auto [m, n, k] : sizes) {
    Floats a({m, k}, random_floats(static_cast<size_t>(m * k), 6));
    Floats b({k, n}, random_floats(static_cast<size_t>(k * n), 7));
    Shape shape;
    std::vector<float> answer = compute("MatMul", {&a.tensor, &b.tensor}, {}, &shape);
    EXPECT_EQ(shape, (Shape{m, n}));
    EXPECT_LT(worst_difference(answer, naive_product(a.data.data(), b.data.data(), m, n, k)), tolerance(k))
        << m << " x " << n << " x " << k;
  }
}

TEST_P(ReferenceOperations, StacksOfMatricesBroadcastAndVectorsArePromoted) {
  Floats stack({2, 1, 3, 4}, random_floats(24, 8)), other({5, 4, 2}, random_floats(40, 9));
  Shape shape;
  std::vector<float> answer = compute("MatMul", {&stack.tensor, &other.tensor}, {}, &shape);
  EXPECT_EQ(shape, (Shape{2, 5, 3, 2}));
  for (size_t i = 0; i < 10; i++) {
    std::vector<float> one(answer.begin() + static_cast<long>(i) * 6,
                           answer.begin() + static_cast<long>(i + 1) * 6);
    EXPECT_LT(worst_difference(one, naive_product(&stack.data[i / 5 * 12], &other.data[i % 5 * 8], 3, 2, 4)),
              1e-6);
  }
  Floats row({4}, random_floats(4, 10));
  compute("MatMul", {&row.tensor, &other.tensor}, {}, &shape);
  EXPECT_EQ(shape, (Shape{5, 2}));
  compute("MatMul", {&stack.tensor, &row.tensor}, {}, &shape);
  EXPECT_EQ(shape, (Shape{2, 1, 3}));
  std::vector<float> dot = compute("MatMul", {&row.tensor, &row.tensor}, {}, &shape);
  EXPECT_EQ(shape, Shape{});
  EXPECT_LT(worst_difference(dot, naive_product(row.data.data(), row.data.data(), 1, 1, 4)), 1e-6);
}

TEST_P(ReferenceOperations, ConvolutionsWithStridesPadsDilationAndGroupsAreRight) {
  const std::vector<NaiveConv> cases = {{1, 1, 5, 5, 1, 3, 3, 1, 1, 1, 1, 1, 0, 0, 0, 0},
                                        {2, 4, 9, 7, 6, 3, 2, 2, 2, 1, 1, 2, 1, 0, 2, 1},
                                        {1, 8, 12, 12, 8, 3, 3, 8, 1, 1, 1, 1, 1, 1, 1, 1},
                                        {1, 3, 40, 33, 20, 5, 5, 1, 2, 2, 1, 1, 2, 2, 2, 2},
                                        {3, 2, 6, 6, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
                                        {1, 2, 4, 4, 3, 4, 4, 1, 1, 1, 1, 1, 3, 3, 3, 3},
                                        {1, 64, 48, 48, 33, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                        {1, 300, 30, 30, 4, 3, 3, 1, 1, 1, 3, 3, 0, 0, 0, 0}};
  for (const NaiveConv& c : cases) {
    int64_t per_group = c.channels / c.group;
    Floats image({c.batch, c.channels, c.height, c.width},
                 random_floats(static_cast<size_t>(c.batch * c.channels * c.height * c.width), 11));
    Floats weights({c.features, per_group, c.kernel_y, c.kernel_x},
                   random_floats(static_cast<size_t>(c.features * per_group * c.kernel_y * c.kernel_x), 12));
    Floats bias({c.features}, random_floats(static_cast<size_t>(c.features), 13));
    auto text = [](std::vector<int64_t> list) {
      std::string out;
      for (int64_t value : list) out += (out.empty() ? "" : ",") + std::to_string(value);
      return out;
    };
    std::string group = std::to_string(c.group), strides = text({c.stride_y, c.stride_x});
    std::string dilations = text({c.dilation_y, c.dilation_x}),
                pads = text({c.top, c.left, c.bottom, c.right});
    std::vector<engine_entry> attributes = {{"group", group.c_str()},
                                            {"strides", strides.c_str()},
                                            {"dilations", dilations.c_str()},
                                            {"pads", pads.c_str()}};
    Shape shape;
    std::vector<float> with =
        compute("Conv", {&image.tensor, &weights.tensor, &bias.tensor}, attributes, &shape);
    EXPECT_EQ(shape, (Shape{c.batch, c.features, c.out_y(), c.out_x()}));
    EXPECT_LT(worst_difference(with, c.run(image.data, weights.data, bias.data)),
              tolerance(per_group * c.kernel_y * c.kernel_x));
    std::vector<float> without = compute("Conv", {&image.tensor, &weights.tensor}, attributes);
    EXPECT_LT(worst_difference(without, c.run(image.data, weights.data, {})),
              tolerance(per_group * c.kernel_y * c.kernel_x));
  }
}

TEST_P(ReferenceOperations, ConvolutionPadsByItselfWhenAskedTo) {
  Floats image({1, 1, 5, 6}, random_floats(30, 14)), weights({1, 1, 2, 3}, random_floats(6, 15));
  NaiveConv upper = {1, 1, 5, 6, 1, 2, 3, 1, 2, 2, 1, 1, 0, 0, 1, 1}, lower = upper, valid = upper;
  lower.top = 1, lower.bottom = 0, lower.left = 1, lower.right = 0;
  valid.bottom = valid.right = 0;
  auto run = [&](const char* how) {
    return compute("Conv", {&image.tensor, &weights.tensor}, {{"auto_pad", how}, {"strides", "2,2"}});
  };
  EXPECT_LT(worst_difference(run("SAME_UPPER"), upper.run(image.data, weights.data, {})), 1e-6);
  EXPECT_LT(worst_difference(run("SAME_LOWER"), lower.run(image.data, weights.data, {})), 1e-6);
  EXPECT_LT(worst_difference(run("VALID"), valid.run(image.data, weights.data, {})), 1e-6);
}

TEST_P(ReferenceOperations, SoftmaxSumsToOneAlongAnyAxisAndSurvivesLargeValues) {
  Floats in({3, 4, 37}, random_floats(3 * 4 * 37, 16));
  for (float& value : in.data) value *= 50;
  in.data[0] = 3e38f;
  in.data[40] = -INFINITY;
  for (int axis : {-3, -2, -1, 0, 1, 2}) {
    std::vector<float> answer = compute("Softmax", {&in.tensor}, {{"axis", std::to_string(axis).c_str()}});
    size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    const size_t sizes[] = {3, 4, 37}, steps[] = {148, 37, 1};
    std::vector<float> expected(answer.size());
    for (size_t i = 0; i < expected.size(); i++) {
      size_t first = i - i / steps[at] % sizes[at] * steps[at];
      double largest = -INFINITY, sum = 0;
      for (size_t j = 0; j < sizes[at]; j++)
        largest = std::max(largest, double{in.data[first + j * steps[at]]});
      for (size_t j = 0; j < sizes[at]; j++)
        sum += std::exp(double{in.data[first + j * steps[at]]} - largest);
      expected[i] = static_cast<float>(std::exp(double{in.data[i]} - largest) / sum);
    }
    EXPECT_LT(worst_difference(answer, expected), 2e-7) << axis;
  }
}

TEST_P(ReferenceOperations, ACanceledProductStopsSoonAndGivesNothing) {
  Floats a({1024, 1024}, random_floats(1024 * 1024, 17));
  Results results;
  Call call;
  call.cancel_after = 1;
  EXPECT_EQ(engine->run("MatMul", {&a.tensor, &a.tensor}, results, call), ENGINE_CANCELLED);
  EXPECT_TRUE(results.values.empty());
  EXPECT_LT(call.last_done, call.last_total);
  ASSERT_FALSE(call.reports.empty());
  EXPECT_EQ(call.reports[0].status, ENGINE_CANCELLED);
}

INSTANTIATE_TEST_SUITE_P(, ReferenceOperations, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& kernels) { return std::string(kernels.param); });

}  // namespace
}  // namespace enginehost::engines::tests
