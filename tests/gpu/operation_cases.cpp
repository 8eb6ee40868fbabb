#include "tests/gpu/operation_cases.hpp"

#include <random>

#include "tests/gpu/refused_cases.hpp"

namespace enginehost::gpu {
namespace {

using Cases = std::vector<Case>;
constexpr std::int64_t odd_sizes[] = {1, 7, 31, 33, 127, 1025};

void add_with_special_values(Cases& cases, const std::string& operation, const std::vector<Shape>& shapes) {
  for (const Fill fill : {Fill::special, Fill::infinite, Fill::tiny}) {
    Case one{operation, {}, {}};
    for (const Shape& shape : shapes) one.inputs.push_back({shape, fill});
    cases.push_back(one);
  }
}

// Every layout that the interface allows, for each input.
void add_with_layouts(Cases& cases, const Case& like) {
  for (std::size_t i = 0; i < like.inputs.size(); ++i)
    for (const Layout layout :
         {Layout::with_strides, Layout::odd_unit_strides, Layout::inside, Layout::with_offset}) {
      cases.push_back(like);
      cases.back().inputs[i].layout = layout;
    }
}

void add_with_types(Cases& cases, const Case& like) {
  for (const Type& type : types()) {
    cases.push_back(like);
    for (Given& given : cases.back().inputs) given.type = type;
  }
}

void add_binary(Cases& cases, const std::string& operation, bool quick) {
  const std::pair<Shape, Shape> pairs[] = {
      {{}, {}},
      {{}, {7}},
      {{1}, {}},
      {{1, 1, 1}, {1}},
      {{2, 3}, {3}},
      {{2, 3}, {2, 1}},
      {{1, 3}, {2, 1}},
      {{4, 1, 5}, {3, 1}},
      {{2, 3, 4, 5}, {3, 1, 5}},
      {{2, 1, 4, 1, 6}, {3, 1, 5, 1}},
      {{1, 7, 1, 5, 1}, {3, 1, 2, 1, 4}},
      {{31, 33}, {33}},
      {{33, 1}, {1, 127}},
      {{5, 4, 3, 2, 1}, {5, 4, 3, 2, 1}},
      {{5, 4, 3, 2}, {1, 1, 1, 1, 1}},
      // Without elements.
      {{0}, {0}},
      {{0}, {}},
      {{1}, {0}},
      {{0, 3}, {1, 3}},
      {{2, 0, 3}, {3}},
      {{3, 0}, {1, 1}},
      {{0, 1}, {1, 5}},
  };
  for (const auto& [left, right] : pairs) {
    cases.push_back({operation, {{left}, {right}}});
    cases.push_back({operation, {{right}, {left}}});
  }
  for (const std::int64_t size : odd_sizes)
    for (const Shape& other : {Shape{size}, Shape{1}, Shape{}, Shape{3, size}, Shape{size, 1}})
      cases.push_back({operation, {{{size}}, {other}}});
  add_with_special_values(cases, operation, {{127, 33}, {127, 33}});
  add_with_special_values(cases, operation, {{127, 33}, {33}});
  add_with_layouts(cases, {operation, {{{3, 1, 5}}, {{4, 1}}}});
  add_with_layouts(cases, {operation, {{{1025}}, {{1025}}}});
  add_with_types(cases, {operation, {{{7, 5}}, {{5}}}});
  if (quick) return;
  cases.push_back({operation, {{{3'000'001}}, {{3'000'001}}}});
  cases.push_back({operation, {{{1733, 1733}}, {{1733, 1}}}});
  cases.push_back({operation, {{{1, 2049, 1}}, {{33, 1, 31}}}});
}

void add_relu(Cases& cases, bool quick) {
  for (const Shape& shape :
       {Shape{}, {0}, {2, 0, 3}, {1}, {1, 1, 1, 1}, {5, 4, 3}, {2, 3, 4, 5}, {2, 1, 3, 1, 5}})
    cases.push_back({"Relu", {{shape}}});
  for (const std::int64_t size : odd_sizes) cases.push_back({"Relu", {{{size, 3}}}});
  add_with_special_values(cases, "Relu", {{127, 33}});
  add_with_layouts(cases, {"Relu", {{{3, 1, 5}}}});
  add_with_types(cases, {"Relu", {{{7, 5}}}});
  if (!quick) cases.push_back({"Relu", {{{3'000'001}}}});
}

void add_softmax(Cases& cases, bool quick) {
  for (const Shape& shape : {Shape{1},
                             {7},
                             {1025},
                             {1, 1},
                             {31, 33},
                             {33, 1},
                             {4, 127, 3},
                             {2, 3, 4, 5},
                             {2, 1, 3, 1, 5},
                             {3, 4, 0},
                             {0, 3},
                             {2, 3, 1, 2, 7}}) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    cases.push_back({"Softmax", {{shape}}});
    for (std::int64_t axis = -rank; axis < rank; ++axis)
      cases.push_back({"Softmax", {{shape}}, {{"axis", std::to_string(axis)}}});
  }
  for (const Fill fill :
       {Fill::special, Fill::infinite, Fill::tiny, Fill::far_apart, Fill::equal, Fill::whole})
    for (const char* axis : {"0", "1"}) {
      cases.push_back({"Softmax", {{{127, 33}, fill}}, {{"axis", axis}}});
      cases.push_back({"Softmax", {{{5, 1025}, fill}}, {{"axis", axis}}});
      cases.push_back({"Softmax", {{{4, 1}, fill}}, {{"axis", axis}}});
    }
  // An attribute that is given twice: the last value counts.
  cases.push_back({"Softmax", {{{5, 7}}}, {{"axis", "0"}, {"axis", "1"}}});
  cases.push_back({"Softmax", {{{5, 7}}}, {{"axis", "1"}, {"axis", "0"}}});
  add_with_layouts(cases, {"Softmax", {{{3, 1, 5}}}});
  add_with_types(cases, {"Softmax", {{{7, 5}}}});
  cases.push_back({"Softmax", {{{3, 4097}}}});
  if (quick) return;
  cases.push_back({"Softmax", {{{3, 100'003}}}});
  cases.push_back({"Softmax", {{{70'001, 5}}}});
  cases.push_back({"Softmax", {{{11, 4099, 33}}}, {{"axis", "1"}}});
}

void add_products(Cases& cases, bool quick) {
  const std::pair<Shape, Shape> pairs[] = {
      {{7}, {7}},
      {{1}, {1}},
      {{1025}, {1025}},
      {{7}, {7, 5}},
      {{5, 7}, {7}},
      {{7}, {3, 7, 5}},
      {{3, 5, 7}, {7}},
      {{3, 5, 7}, {7, 4}},
      {{5, 7}, {3, 7, 4}},
      {{3, 5, 7}, {3, 7, 4}},
      {{1, 5, 7}, {3, 7, 4}},
      {{3, 5, 7}, {1, 7, 4}},
      {{2, 1, 5, 7}, {3, 7, 4}},
      {{2, 3, 5, 7}, {2, 1, 7, 4}},
      {{2, 3, 5, 7}, {3, 7, 4}},
      {{2, 1, 3, 5, 7}, {4, 1, 7, 2}},
      {{1, 1, 1}, {1, 1}},
      // Without elements, and sums without terms.
      {{0}, {0}},
      {{5, 0}, {0, 4}},
      {{0, 7}, {7, 4}},
      {{5, 7}, {7, 0}},
      {{0, 5, 7}, {7, 4}},
      {{0, 5, 7}, {1, 7, 4}},
      {{3, 5, 0}, {3, 0, 4}},
      {{0}, {0, 4}},
      {{5, 0}, {0}},
  };
  for (const auto& [left, right] : pairs) cases.push_back({"MatMul", {{left}, {right}}});
  for (const std::int64_t rows : {1, 31, 127})
    for (const std::int64_t depth : odd_sizes)
      for (const std::int64_t columns : {1, 7, 33})
        cases.push_back({"MatMul", {{{rows, depth}}, {{depth, columns}}}});
  for (const std::int64_t depth : {7, 127, 1025}) {
    cases.push_back({"MatMul", {{{33, depth}, Fill::whole}, {{depth, 31}, Fill::whole}}});
    cases.push_back({"MatMul", {{{33, depth}, Fill::between}, {{depth, 31}, Fill::between}}});
  }
  cases.push_back({"MatMul", {{{3, 33, 64}, Fill::between}, {{3, 64, 32}, Fill::between}}});
  cases.push_back({"MatMul", {{{33, 127}, Fill::infinite}, {{127, 31}}}});
  cases.push_back({"MatMul", {{{33, 127}, Fill::tiny}, {{127, 31}}}});
  add_with_layouts(cases, {"MatMul", {{{3, 1, 5}}, {{5, 4}}}});
  add_with_layouts(cases, {"MatMul", {{{33, 64}}, {{64, 32}}}});
  add_with_types(cases, {"MatMul", {{{7, 5}}, {{5, 9}}}});
  if (quick) return;
  cases.push_back({"MatMul", {{{1025, 1025}}, {{1025, 1025}}}});
  cases.push_back({"MatMul", {{{512, 512}, Fill::between}, {{512, 512}, Fill::between}}});
  cases.push_back({"MatMul", {{{70'001, 2, 3}}, {{3, 2}}}});
  cases.push_back({"MatMul", {{{70'001, 2, 3}}, {{70'001, 3, 2}}}});
}

std::string pair_text(std::int64_t a, std::int64_t b) { return std::to_string(a) + "," + std::to_string(b); }

void add_random_convolutions(Cases& cases, int count) {
  std::mt19937_64 generator(20);
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(most - least + 1));
  };
  for (int i = 0; i < count; ++i) {
    const std::int64_t group = pick(1, 4), channels = pick(1, 5), features = group * pick(1, 5);
    const std::int64_t kernel_y = pick(1, 5), kernel_x = pick(1, 5), dilation_y = pick(1, 3),
                       dilation_x = pick(1, 3);
    const std::int64_t window_y = (kernel_y - 1) * dilation_y + 1, window_x = (kernel_x - 1) * dilation_x + 1;
    Case one{"Conv",
             {{{pick(1, 3), group * channels, window_y + pick(0, 14), window_x + pick(0, 14)}},
              {{features, channels, kernel_y, kernel_x}}},
             {{"group", std::to_string(group)},
              {"strides", pair_text(pick(1, 3), pick(1, 3))},
              {"dilations", pair_text(dilation_y, dilation_x)}}};
    if (i % 2 == 0) one.inputs.push_back({{features}});
    if (i % 3 == 0) one.attributes.emplace_back("kernel_shape", pair_text(kernel_y, kernel_x));
    constexpr const char* automatic[] = {"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"};
    if (i % 4 == 3) {
      one.attributes.emplace_back("auto_pad", automatic[i / 4 % 4]);
    } else {
      const bool alike = i % 4 == 2;
      const std::int64_t top = pick(0, 3), left = pick(0, 3);
      one.attributes.emplace_back(
          "pads",
          pair_text(top, left) + "," + (alike ? pair_text(top, left) : pair_text(pick(0, 3), pick(0, 3))));
    }
    cases.push_back(one);
  }
}

void add_convolutions(Cases& cases, bool quick) {
  add_random_convolutions(cases, quick ? 40 : 160);
  const auto add = [&](const Shape& image, const Shape& weights, Attributes attributes = {},
                       Fill fill = Fill::usual) {
    cases.push_back({"Conv", {{image, fill}, {weights, fill}}, std::move(attributes)});
    cases.push_back(cases.back());
    cases.back().inputs.push_back({{weights[0]}, fill});
  };
  add({1, 1, 1, 1}, {1, 1, 1, 1});
  add({2, 3, 7, 7}, {4, 3, 7, 7});
  add({1, 3, 9, 9}, {4, 3, 3, 3}, {{"pads", "5,5,5,5"}});
  add({1, 3, 9, 9}, {4, 3, 3, 3}, {{"pads", "0,0,7,0"}});
  add({2, 32, 14, 14}, {32, 1, 3, 3}, {{"group", "32"}, {"pads", "1,1,1,1"}});
  add({1, 16, 33, 31}, {8, 16, 3, 3}, {{"pads", "1,1,1,1"}}, Fill::whole);
  add({1, 16, 33, 31}, {8, 16, 3, 3}, {{"pads", "1,1,1,1"}}, Fill::between);
  add({1, 64, 16, 16}, {32, 64, 1, 1}, {}, Fill::between);
  add({0, 3, 8, 8}, {4, 3, 3, 3});
  add({2, 3, 8, 8}, {0, 3, 3, 3});
  add({2, 0, 8, 8}, {4, 0, 3, 3});
  // One and three spatial axes, where both engines have them.
  add({2, 3, 20}, {4, 3, 5}, {{"pads", "2,1"}, {"strides", "2"}});
  add({1, 2, 5, 6, 7}, {3, 2, 2, 3, 3}, {{"pads", "1,1,1,1,1,1"}});
  cases.push_back({"Conv", {{{2, 3, 17, 17}, Fill::infinite}, {{4, 3, 3, 3}}}, {{"pads", "1,1,1,1"}}});
  cases.push_back({"Conv", {{{2, 3, 17, 17}, Fill::tiny}, {{4, 3, 3, 3}}}});
  add_with_layouts(cases, {"Conv", {{{1, 3, 9, 9}}, {{4, 3, 3, 3}}, {{4}}}});
  add_with_types(cases, {"Conv", {{{1, 3, 9, 9}}, {{4, 3, 3, 3}}}});
  if (quick) return;
  add({2, 16, 127, 127}, {33, 16, 3, 3}, {{"pads", "1,1,1,1"}});
  add({1, 3, 224, 224}, {32, 3, 7, 7}, {{"pads", "3,3,3,3"}, {"strides", "2,2"}});
  add({4, 128, 28, 28}, {64, 128, 1, 1});
  add({1, 8, 1, 1025}, {8, 8, 1, 31}, {{"auto_pad", "SAME_UPPER"}});
}

}  // namespace

std::vector<Case> all_cases(bool quick) {
  // The longest cases come last, because a run may end when its time is over.
  Cases cases;
  add_refused_cases(cases);
  add_binary(cases, "Add", quick);
  add_binary(cases, "Mul", quick);
  add_relu(cases, quick);
  add_softmax(cases, quick);
  add_products(cases, quick);
  add_convolutions(cases, quick);
  return cases;
}

}  // namespace enginehost::gpu
