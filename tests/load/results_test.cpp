#include "host/load/in_process/tensors.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace enginehost::load {
namespace {

engine_tensor floats(const std::int64_t* shape, std::int32_t rank) {
  engine_tensor tensor{};
  tensor.device = {ENGINE_CPU, 0};
  tensor.dtype = {ENGINE_FLOAT, 32, 1};
  tensor.shape = shape;
  tensor.ndim = rank;
  return tensor;
}

TEST(ResultsTest, PlacedMemoryIsAlignedAndOfTheRightSize) {
  Results results;
  std::int64_t shape[] = {3, 5};
  const engine_tensor like = floats(shape, 2);
  const engine_tensor* placed = results.get()->place(results.get(), 1, "boxes", &like);
  ASSERT_NE(placed, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(placed->data) % 64, 0u);
  for (int i = 0; i < 15; ++i) static_cast<float*>(placed->data)[i] = 1;
  shape[0] = 99;  // the plugin's own array may be gone
  const auto outputs = results.take();
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0]->number, 1u);
  EXPECT_EQ(outputs[0]->name, "boxes");
  EXPECT_TRUE(outputs[0]->placed());
  EXPECT_EQ(outputs[0]->tensor().shape[0], 3);
}

TEST(ResultsTest, DeclinesUnplaceableResults) {
  Results results;
  const std::int64_t negative[] = {-1}, huge[] = {INT64_MAX, INT64_MAX}, one[] = {1};
  engine_tensor like = floats(negative, 1);
  EXPECT_EQ(results.get()->place(results.get(), 0, nullptr, &like), nullptr);
  like = floats(huge, 2);
  EXPECT_EQ(results.get()->place(results.get(), 0, nullptr, &like), nullptr);
  like = floats(one, 1);
  like.device.type = ENGINE_CUDA;
  EXPECT_EQ(results.get()->place(results.get(), 0, nullptr, &like), nullptr);
  like = floats(one, 1);
  like.dtype = {ENGINE_STRING, 128, 1};
  EXPECT_EQ(results.get()->place(results.get(), 0, nullptr, &like), nullptr);
  EXPECT_EQ(results.get()->place(results.get(), 0, nullptr, nullptr), nullptr);
  EXPECT_TRUE(results.outputs().empty());
}

TEST(ResultsTest, AGivenTensorIsReleasedOnce) {
  static int released = 0;
  engine_owned_tensor tensor{};
  tensor.release = [](engine_owned_tensor*) noexcept { ++released; };
  {
    Results results;
    results.get()->give(results.get(), 0, nullptr, &tensor);
    EXPECT_FALSE(results.outputs().at(0)->placed());
  }
  EXPECT_EQ(released, 1);
  Results results;
  results.get()->give(results.get(), 0, nullptr, &tensor);
  auto outputs = results.take();
  EXPECT_EQ(outputs[0]->take(), &tensor);
  outputs.clear();
  EXPECT_EQ(released, 1) << "a tensor that was taken is the taker's to release";
}

// The problem of a float32[2, 3] with these strides; empty if it is an output.
std::string refused(const std::int64_t* strides) {
  static int released;
  released = 0;
  static const std::int64_t shape[] = {2, 3};
  float data[6] = {};
  engine_owned_tensor tensor{};
  tensor.tensor = floats(shape, 2);
  tensor.tensor.data = data;
  tensor.tensor.strides = strides;
  tensor.release = [](engine_owned_tensor*) noexcept { ++released; };
  Results results;
  results.get()->give(results.get(), 0, nullptr, &tensor);
  EXPECT_EQ(results.outputs().empty(), !results.problem().empty());
  EXPECT_EQ(released, results.outputs().empty() ? 1 : 0);
  return results.problem();
}

TEST(ResultsTest, AGivenTensorLiesRowByRowWithoutGaps) {
  const std::int64_t rows[] = {3, 1}, columns[] = {1, 2}, gaps[] = {4, 1}, backwards[] = {3, -1};
  EXPECT_EQ(refused(nullptr), "");
  EXPECT_EQ(refused(rows), "") << "strides that say what they would be without";
  for (const std::int64_t* strides : {columns, gaps, backwards})
    EXPECT_EQ(refused(strides), "a tensor with gaps between its elements, or not in row-major order");
}

TEST(ResultsTest, ScalarsAndEmptyTensorsArePlaced) {
  Results results;
  engine_tensor scalar = floats(nullptr, 0);
  ASSERT_NE(results.get()->place(results.get(), 0, nullptr, &scalar), nullptr);
  const std::int64_t none[] = {0, 4};
  engine_tensor empty = floats(none, 2);
  ASSERT_NE(results.get()->place(results.get(), 0, nullptr, &empty), nullptr);
  const std::int64_t wide[] = {INT64_MAX, INT64_MAX, 0}, negative[] = {0, -1};
  empty = floats(wide, 3);
  EXPECT_NE(results.get()->place(results.get(), 0, nullptr, &empty), nullptr);
  empty = floats(negative, 2);
  EXPECT_EQ(results.get()->place(results.get(), 0, nullptr, &empty), nullptr);
}

}  // namespace
}  // namespace enginehost::load
