#include "tests/gpu/refused_cases.hpp"

namespace enginehost::gpu {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;

void add_shapes(std::vector<Case>& cases) {
  for (const char* operation : {"Add", "Mul"}) {
    for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{{{2, 3}, {4}},
                                                                          {{2}, {3}},
                                                                          {{0}, {2}},
                                                                          {{2, 3}, {3, 2}},
                                                                          {{1, 2, 3}, {2, 2, 2}},
                                                                          {{5, 0}, {5, 3}}})
      cases.push_back({operation, {{left}, {right}}});
    // No element, and sizes whose product overflows.
    cases.push_back({operation, {{{0, huge, huge}}, {{1}}}});
    cases.push_back({operation, {{{2, 3}}}});
    cases.push_back({operation, {{{2}}, {{2}}, {{2}}}});
    cases.push_back({operation, {}});
  }
  cases.push_back({"Relu", {{{2}}, {{2}}}});
  cases.push_back({"Softmax", {{{2}}, {{2}}}});
  for (const auto& [left, right] : std::vector<std::pair<Shape, Shape>>{{{2, 3}, {2, 3}},
                                                                        {{}, {3, 2}},
                                                                        {{2, 3}, {}},
                                                                        {{}, {}},
                                                                        {{3}, {4}},
                                                                        {{3}, {4, 3}},
                                                                        {{3, 4}, {3}},
                                                                        {{2, 5, 7}, {3, 7, 4}},
                                                                        {{2, 3, 5, 7}, {2, 2, 7, 4}},
                                                                        {{5, 0}, {1, 4}},
                                                                        {{0, 5, 7}, {2, 7, 4}}})
    cases.push_back({"MatMul", {{left}, {right}}});
  cases.push_back({"MatMul", {{{2, 3}}}});
  for (const char* operation : {"Add", "MatMul"}) {
    for (const Layout layout : {Layout::transposed, Layout::without_data, Layout::elsewhere}) {
      cases.push_back({operation, {{{4, 3}, Fill::usual, float32, layout}, {{3, 4}}}});
      cases.push_back({operation, {{{3, 4}}, {{4, 3}, Fill::usual, float32, layout}}});
      cases.push_back({operation, {{{3, 3}}, {{3, 3}, Fill::usual, float32, layout}}});
    }
    cases.push_back({operation, {{{-3, 3}}, {{3, 3}}}});
    cases.push_back({operation, {{{3, 3}}, {{3, 3}, Fill::usual, types()[1]}}});
    cases.push_back({operation, {{{3, 3}}, {{3, 3}, Fill::usual, types()[5]}}});
  }
  cases.push_back({"Relu", {{{4, 3}, Fill::usual, float32, Layout::transposed}}});
  cases.push_back({"Softmax", {{{4, 3}, Fill::usual, float32, Layout::transposed}}});
  cases.push_back({"Relu", {{{-1}}}});
}

void add_attributes(std::vector<Case>& cases) {
  for (const char* operation : {"Add", "Mul", "MatMul"})
    cases.push_back({operation, {{{3, 3}}, {{3, 3}}}, {{"alpha", "1"}}});
  cases.push_back({"Relu", {{{3}}}, {{"axis", "0"}}});
  cases.push_back({"Softmax", {{{3, 3}}}, {{"dim", "0"}}});
  for (const char* axis : {"2",
                           "-3",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "99999999999999999999",
                           "",
                           " ",
                           "abc",
                           "1.5",
                           "1,0",
                           "1,",
                           ",1",
                           "0x1",
                           "1e0",
                           "1 0",
                           "\t1",
                           "\n1",
                           " 1",
                           "1 ",
                           "+1",
                           "--1",
                           "- 1",
                           "01"})
    cases.push_back({"Softmax", {{{5, 7}}}, {{"axis", axis}}});
  cases.push_back({"Softmax", {{{}}}});
  cases.push_back({"Softmax", {{{}}}, {{"axis", "0"}}});
}

void add_convolutions(std::vector<Case>& cases) {
  const Given image{{1, 4, 8, 8}}, weights{{6, 4, 3, 3}};
  for (const auto& [key, value] : Attributes{{"pads", "1,1"},
                                             {"pads", "1,1,1"},
                                             {"pads", "1,1,1,1,1"},
                                             {"pads", "-1,0,0,0"},
                                             {"pads", "0,0,0,-1"},
                                             {"pads", "2147483647,2147483647,2147483647,2147483647"},
                                             {"pads",
                                              "9223372036854775807,9223372036854775807,9223372036854775807,"
                                              "9223372036854775807"},
                                             {"pads", "1;1;1;1"},
                                             {"pads", ""},
                                             {"strides", "0,1"},
                                             {"strides", "1,-1"},
                                             {"strides", "1"},
                                             {"strides", "1,1,1"},
                                             {"strides", "9223372036854775807,1"},
                                             {"dilations", "0,1"},
                                             {"dilations", "1,-2"},
                                             {"dilations", "2"},
                                             {"dilations", "4,1"},
                                             {"dilations", "9223372036854775807,1"},
                                             {"group", "0"},
                                             {"group", "-1"},
                                             {"group", "3"},
                                             {"group", "2"},
                                             {"group", "1,1"},
                                             {"group", "9223372036854775807"},
                                             {"kernel_shape", "3,2"},
                                             {"kernel_shape", "3"},
                                             {"kernel_shape", "3,3,3"},
                                             {"auto_pad", "SAME"},
                                             {"auto_pad", "same_upper"},
                                             {"auto_pad", ""},
                                             {"padding", "1,1,1,1"}})
    cases.push_back({"Conv", {image, weights}, {{key, value}}});
  const std::vector<std::vector<Shape>> misfits = {
      {{1, 4, 8, 8}},
      {{1, 4, 8, 8}, {6, 3, 3, 3}},
      {{1, 4, 8, 8}, {6, 4, 9, 3}},
      {{1, 4, 8, 8}, {6, 4, 3, 9}},
      {{1, 4, 8, 8}, {6, 4, 0, 3}},
      {{1, 4, 8, 8}, {6, 4, 3}},
      {{1, 4, 8}, {6, 4, 3, 3}},
      {{4, 8, 8}, {6, 4, 3, 3}},
      {{1, 4}, {6, 4}},
      {{}, {}},
      {{1, 4, 8, 8}, {6, 4, 3, 3}, {5}},
      {{1, 4, 8, 8}, {6, 4, 3, 3}, {6, 1}},
      {{1, 4, 8, 8}, {6, 4, 3, 3}, {}},
      {{1, 4, 8, 8}, {6, 4, 3, 3}, {6}, {6}},
      {{1, 4, 0, 8}, {6, 4, 3, 3}},
      {{0, 4, 2, 2}, {6, 4, 3, 3}},
  };
  for (const std::vector<Shape>& shapes : misfits) {
    Case one{"Conv", {}, {}};
    for (const Shape& shape : shapes) one.inputs.push_back({shape});
    cases.push_back(one);
  }
}

}  // namespace

void add_refused_cases(std::vector<Case>& cases) {
  add_shapes(cases);
  add_attributes(cases);
  add_convolutions(cases);
  // No engine has this operation.
  cases.push_back({"NoSuchOperation", {{{3}}}});
  cases.push_back({"add", {{{3}}, {{3}}}});
}

}  // namespace enginehost::gpu
