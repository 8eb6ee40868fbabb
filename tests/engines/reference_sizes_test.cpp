// Large models of the reference engine take a time that grows with their length, and no more memory than
// their text needs.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "tests/engines/plugin_host.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// With a search through all earlier names, each of these models took minutes. They take less than a second.
constexpr std::chrono::seconds enough{20};
constexpr int many = 200'000;

class ReferenceSizes : public testing::Test {
 protected:
  ~ReferenceSizes() override { EXPECT_LT(Clock::now() - begin_, enough); }
  Library library{plugin_path("reference")};
  Engine engine{library, "/"};
  std::string text = "enginehost-reference 1\n";

 private:
  Clock::time_point begin_ = Clock::now();
};

TEST_F(ReferenceSizes, AChainOfManyStepsIsReadAndRun) {
  text += "input x [batch,2]\n";
  for (int i = 0; i < many; ++i)
    text += "h" + std::to_string(i) + " = Relu(" + (i == 0 ? "x" : "h" + std::to_string(i - 1)) + ")\n";
  text += "output h" + std::to_string(many - 1) + " [batch,2]\n";
  Model model(engine, "reference", text, true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({1, 2}, {1, -2});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_EQ(results.of(0).as<float>(), (std::vector<float>{1, 0}));
}

TEST_F(ReferenceSizes, ManyConstantsAndOutputsAreFound) {
  for (int i = 0; i < many; ++i)
    text += "constant c" + std::to_string(i) + " [1] (" + std::to_string(i) + ")\n";
  for (int i = 0; i < many; ++i) text += "output c" + std::to_string(many - 1 - i) + " [1]\n";
  Model model(engine, "reference", text, true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  EXPECT_EQ(model.function().output_count, std::size_t{many});
  EXPECT_STREQ(model.function().outputs[0].name, ("c" + std::to_string(many - 1)).c_str());
}

TEST_F(ReferenceSizes, ManyInputsWithSizesOfTheirOwnAreBound) {
  for (int i = 0; i < many; ++i) text += "input x" + std::to_string(i) + " [n" + std::to_string(i) + "]\n";
  text += "output x7 [n7]\n";
  Model model(engine, "reference", text, true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({2}, {3, 4});
  std::vector<std::pair<std::uint32_t, const engine_tensor*>> inputs;
  for (int i = 0; i < many; ++i) inputs.emplace_back(many - 1 - i, &x.tensor);
  Results results;
  Call call;
  ASSERT_EQ(model.run(inputs, results, call), ENGINE_OK) << call.message();
  EXPECT_EQ(results.of(0).as<float>(), x.data);
}

TEST_F(ReferenceSizes, NamesOfAllLengthsThatBeginAlikeAreDistinct) {
  text += "input x [2]\n";
  std::string before = "x";
  for (int i = 1; i <= 1000; ++i) {
    const std::string name(static_cast<std::size_t>(i), 'y');
    text += name + " = Add(" + before + ", x)\n";
    before = name;
  }
  Model model(engine, "reference", text + "output yyy [2]\n", true);
  ASSERT_EQ(model.status, ENGINE_OK) << model.call.message();
  Floats x({2}, {1, 10});
  Results results;
  Call call;
  ASSERT_EQ(model.run({{0, &x.tensor}}, results, call), ENGINE_OK) << call.message();
  EXPECT_EQ(results.of(0).as<float>(), (std::vector<float>{4, 40}));
  Model twice(engine, "reference", text + std::string(500, 'y') + " = Relu(x)\n", true);
  EXPECT_EQ(twice.status, ENGINE_CORRUPT);
  EXPECT_THAT(twice.call.message(), HasSubstr("used before"));
}

TEST_F(ReferenceSizes, AFileOfZerosIsNotReadToItsEnd) {
  const std::string file =
      testing::TempDir() + "zeros" + std::to_string(Clock::now().time_since_epoch().count()) + ".model";
  std::ofstream(file, std::ios::binary) << text;
  std::filesystem::resize_file(file, std::uint64_t{8} << 30);
  Model model(engine, "reference", file, false);
  std::filesystem::remove(file);
  EXPECT_EQ(model.status, ENGINE_CORRUPT);
  EXPECT_THAT(model.call.message(), HasSubstr("zero byte"));
}

}  // namespace
}  // namespace enginehost::engines::tests
