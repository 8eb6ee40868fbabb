#include "engines/cuda/operation.hpp"

namespace enginehost::engines::cuda {

std::string text_of(const Shape& shape) {
  Text text;
  return text.shape(static_cast<int32_t>(shape.size()), shape.data()).c_str();
}

bool broadcast(const Shape& left, const Shape& right, Shape& out) {
  out.assign(std::max(left.size(), right.size()), 1);
  for (size_t i = 0; i < out.size(); i++) {  // from the right
    int64_t a = i < left.size() ? left[left.size() - 1 - i] : 1;
    int64_t b = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1) return false;
    out[out.size() - 1 - i] = a == 1 ? b : a;
  }
  return true;
}

int64_t stack_position(int64_t index, const Shape& stack, const Shape& own) {
  int64_t out = 0, next = 1;
  for (size_t i = 0; i < stack.size(); i++) {  // from the right
    const int64_t size = stack[stack.size() - 1 - i], at = index % size;
    index /= size;
    if (i >= own.size()) continue;
    const int64_t own_size = own[own.size() - 1 - i];
    if (own_size != 1) out += at * next;
    next *= own_size;
  }
  return out;
}

Axes axes_of(const Shape& left, const Shape& right, const Shape& result, const char* operation) {
  struct Axis {
    int64_t size, left, right;
  };
  std::vector<Axis> axes;  // the last one first
  int64_t next_left = 1, next_right = 1;
  for (size_t i = 0; i < result.size(); i++) {
    int64_t size = result[result.size() - 1 - i];
    int64_t own_left = i < left.size() ? left[left.size() - 1 - i] : 1;
    int64_t own_right = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (size == 1) continue;
    Axis here{size, own_left == 1 ? 0 : next_left, own_right == 1 ? 0 : next_right};
    next_left *= own_left;
    next_right *= own_right;
    // Merged with the axis before it if both operands continue with the same step.
    if (!axes.empty() && here.left == axes.back().left * axes.back().size &&
        here.right == axes.back().right * axes.back().size) {
      axes.back().size *= size;
    } else {
      axes.push_back(here);
    }
  }
  if (axes.size() > Axes::most) {
    throw Failure{ENGINE_UNSUPPORTED, std::string(operation) + " of the shapes " + text_of(left) + " and " +
                                          text_of(right) + " alternates " + std::to_string(axes.size()) +
                                          " times between repeating one and the other; this engine does " +
                                          std::to_string(Axes::most) + "."};
  }
  Axes out;
  for (size_t i = axes.size(); i-- > 0; out.count++) {
    out.size[out.count] = axes[i].size;
    out.left_step[out.count] = axes[i].left;
    out.right_step[out.count] = axes[i].right;
  }
  if (out.count == 0) out = {1, {1}, {0}, {0}};
  return out;
}

}  // namespace enginehost::engines::cuda
