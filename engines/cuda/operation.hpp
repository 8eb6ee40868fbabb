// The operations of ONNX opset 13 that this engine computes, on float32. Each is first prepared, which needs
// only shapes and attributes, and then run on a device. Errors in a request are therefore reported on a
// machine without a GPU too.
#pragma once
#include <memory>

#include "engines/cuda/attributes.hpp"
#include "engines/cuda/instance.hpp"
#include "engines/cuda/kernels.hpp"
#include "engines/cuda/session.hpp"

namespace enginehost::engines::cuda {

using Shape = std::vector<int64_t>;

// One checked request; the shape of its result is known.
class Job {
 public:
  explicit Job(Shape result) : shape(std::move(result)) {}
  virtual ~Job() = default;
  // Queues the work in the session's stream and does not wait for it. The result has at least one element.
  // Throws a Failure.
  virtual void run(Session& session, const std::vector<const float*>& inputs, float* out) const = 0;

  const Shape shape;
};

using Prepare = std::unique_ptr<Job> (*)(const std::vector<Shape>& inputs, const Attributes& attributes);

struct Operation {
  const char* name;
  size_t least, most;  // inputs
  Prepare prepare;     // throws a Failure (invalid, unsupported)
};

std::unique_ptr<Job> prepare_add(const std::vector<Shape>& inputs, const Attributes& attributes);
std::unique_ptr<Job> prepare_multiply(const std::vector<Shape>& inputs, const Attributes& attributes);
std::unique_ptr<Job> prepare_relu(const std::vector<Shape>& inputs, const Attributes& attributes);
std::unique_ptr<Job> prepare_softmax(const std::vector<Shape>& inputs, const Attributes& attributes);
std::unique_ptr<Job> prepare_matrix_product(const std::vector<Shape>& inputs, const Attributes& attributes);
std::unique_ptr<Job> prepare_convolution(const std::vector<Shape>& inputs, const Attributes& attributes);

// "[2,3]"
std::string text_of(const Shape& shape);
inline int64_t elements_of(const Shape& shape) {
  return static_cast<int64_t>(element_count(static_cast<int32_t>(shape.size()), shape.data()));
}
// Computes the common shape of two operands under ONNX's multidirectional broadcasting; false when they do
// not fit.
bool broadcast(const Shape& left, const Shape& right, Shape& out);
// Returns which matrix of its own stack an operand uses for number `index` of the broadcast stack.
int64_t stack_position(int64_t index, const Shape& stack, const Shape& own);
// Returns the steps of both operands for the result; throws a Failure (unsupported) if more than Axes::most
// axes remain.
Axes axes_of(const Shape& left, const Shape& right, const Shape& result, const char* operation);

// Checks the inputs' number, types, compactness and devices, prepares and runs the operation, and gives the
// result to `results` on the device of the inputs. Throws a Failure.
void run_operation_on(engine_instance* engine, const char* name, const engine_tensor* const* inputs,
                      size_t input_count, const engine_entry* attributes, size_t attribute_count,
                      engine_results* results, engine_call* call);

}  // namespace enginehost::engines::cuda
