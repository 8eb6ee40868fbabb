// Add, Mul, Relu and Softmax, with kernels of this engine.
#include "engines/cuda/operation.hpp"

namespace enginehost::engines::cuda {
namespace {

class BinaryJob : public Job {
 public:
  BinaryJob(Binary operation, Shape result, const Axes& axes)
      : Job(std::move(result)), operation_(operation), axes_(axes) {}
  void run(Session& session, const std::vector<const float*>& inputs, float* out) const override {
    check(launch_binary(operation_, inputs[0], inputs[1], out, elements_of(shape), axes_, session.stream()),
          operation_ == Binary::add ? "the kernel of Add" : "the kernel of Mul", session.device());
  }

 private:
  Binary operation_;
  Axes axes_;
};

class ReluJob : public Job {
 public:
  using Job::Job;
  void run(Session& session, const std::vector<const float*>& inputs, float* out) const override {
    check(launch_relu(inputs[0], out, elements_of(shape), session.stream()), "the kernel of Relu",
          session.device());
  }
};

class SoftmaxJob : public Job {
 public:
  SoftmaxJob(Shape result, size_t axis) : Job(std::move(result)), axis_(axis) {}
  void run(Session& session, const std::vector<const float*>& inputs, float* out) const override {
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < shape.size(); i++) {
      if (i < axis_) outer *= shape[i];
      if (i > axis_) inner *= shape[i];
    }
    check(launch_softmax(inputs[0], out, outer, shape[axis_], inner, session.stream()),
          "the kernel of Softmax", session.device());
  }

 private:
  size_t axis_;
};

std::unique_ptr<Job> prepare_binary(Binary operation, const char* name, const std::vector<Shape>& inputs,
                                    const Attributes& attributes) {
  attributes.allow({});
  Shape result;
  if (!broadcast(inputs[0], inputs[1], result)) {
    throw Failure{ENGINE_INVALID, std::string(name) + " cannot broadcast the shapes " + text_of(inputs[0]) +
                                      " and " + text_of(inputs[1]) +
                                      ": each pair of sizes, from the right, must be equal or have a 1."};
  }
  Axes axes = axes_of(inputs[0], inputs[1], result, name);
  return std::make_unique<BinaryJob>(operation, std::move(result), axes);
}

}  // namespace

std::unique_ptr<Job> prepare_add(const std::vector<Shape>& inputs, const Attributes& attributes) {
  return prepare_binary(Binary::add, "Add", inputs, attributes);
}

std::unique_ptr<Job> prepare_multiply(const std::vector<Shape>& inputs, const Attributes& attributes) {
  return prepare_binary(Binary::multiply, "Mul", inputs, attributes);
}

std::unique_ptr<Job> prepare_relu(const std::vector<Shape>& inputs, const Attributes& attributes) {
  attributes.allow({});
  return std::make_unique<ReluJob>(inputs[0]);
}

std::unique_ptr<Job> prepare_softmax(const std::vector<Shape>& inputs, const Attributes& attributes) {
  attributes.allow({"axis"});
  auto rank = static_cast<int64_t>(inputs[0].size());
  int64_t axis = attributes.integer("axis", -1);
  if (axis < -rank || axis >= rank) {
    throw Failure{ENGINE_INVALID, "Softmax has the axis " + std::to_string(axis) +
                                      ", and its input the shape " + text_of(inputs[0]) + "."};
  }
  return std::make_unique<SoftmaxJob>(inputs[0], static_cast<size_t>(axis < 0 ? axis + rank : axis));
}

}  // namespace enginehost::engines::cuda
