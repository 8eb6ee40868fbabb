// MatMul like numpy's matmul, computed by cuBLASLt: stacks of matrices broadcast; vectors are promoted and
// lose the added axis again.
#include <algorithm>

#include "engines/cuda/operation.hpp"

namespace enginehost::engines::cuda {
namespace {

// NVIDIA's recommendation in the cuBLAS documentation for Hopper and later; older devices need less.
constexpr size_t workspace_bytes = size_t{32} << 20;
// CUDA's limit for a grid's third axis, along which the matrices of a batch lie.
constexpr int64_t longest_batch = 65535;

template <class Handle, cublasStatus_t (*Destroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  Owned() = default;
  ~Owned() {
    if (handle != nullptr) static_cast<void>(Destroy(handle));
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
};
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

struct Matrices {
  const float* data;
  int64_t step;  // elements to the next matrix; 0: the same one again
};

// Returns the largest power of two up to 256 that divides every matrix's address: cuBLASLt assumes 256 by
// default.
uint32_t alignment_of(Matrices matrices) {
  const auto address = reinterpret_cast<uintptr_t>(matrices.data);
  const auto step = static_cast<uintptr_t>(matrices.step) * sizeof(float);
  uint32_t alignment = 256;
  while (alignment > 1 && (address | step) % alignment != 0) alignment /= 2;
  return alignment;
}

class MatrixProduct : public Job {
 public:
  MatrixProduct(Shape result, Shape stack, Shape left_stack, Shape right_stack, int64_t rows, int64_t columns,
                int64_t depth)
      : Job(std::move(result)),
        stack_(std::move(stack)),
        left_stack_(std::move(left_stack)),
        right_stack_(std::move(right_stack)),
        rows_(rows),
        columns_(columns),
        depth_(depth) {}

  void run(Session& session, const std::vector<const float*>& inputs, float* out) const override {
    if (depth_ == 0) {  // a sum without terms
      check(
          cudaMemsetAsync(out, 0, static_cast<size_t>(elements_of(shape)) * sizeof(float), session.stream()),
          "cudaMemsetAsync", session.device());
      return;
    }
    int64_t matrices = elements_of(stack_);
    Matrices left{inputs[0], step_of(left_stack_, rows_ * depth_)};
    Matrices right{inputs[1], step_of(right_stack_, depth_ * columns_)};
    if (left.step >= 0 && right.step >= 0) {
      for (int64_t first = 0; first < matrices; first += longest_batch) {
        multiply(session, {left.data + first * left.step, left.step},
                 {right.data + first * right.step, right.step}, out + first * rows_ * columns_,
                 std::min(longest_batch, matrices - first));
      }
      return;
    }
    for (int64_t i = 0; i < matrices; i++) {
      multiply(session, {inputs[0] + stack_position(i, stack_, left_stack_) * rows_ * depth_, 0},
               {inputs[1] + stack_position(i, stack_, right_stack_) * depth_ * columns_, 0},
               out + i * rows_ * columns_, 1);
    }
  }

 private:
  // Returns -1 if some axes of the stack repeat and others do not.
  int64_t step_of(const Shape& own, int64_t elements) const {
    if (elements_of(own) == 1) return 0;
    return elements_of(own) == elements_of(stack_) ? elements : -1;
  }

  // cuBLAS stores matrices by columns. Read that way, the rows here are the transposed matrices, and (A B)' =
  // B' A': the right operand goes first, and nothing is moved.
  void multiply(Session& session, Matrices left, Matrices right, float* out, int64_t count) const {
    const int device = session.device();
    Layout first, second, product;
    make_layout(first, columns_, depth_, right.step, count, device);
    make_layout(second, depth_, rows_, left.step, count, device);
    make_layout(product, columns_, rows_, rows_ * columns_, count, device);
    Description description;
    check(cublasLtMatmulDescCreate(&description.handle,
                                   session.tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                   CUDA_R_32F),
          "cublasLtMatmulDescCreate", device);
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate", device);
    auto prefer = [&](cublasLtMatmulPreferenceAttributes_t key, const auto& value) {
      check(cublasLtMatmulPreferenceSetAttribute(preference.handle, key, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute", device);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(right));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(left));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of({out, rows_ * columns_}));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of({out, rows_ * columns_}));
    cublasLtMatmulHeuristicResult_t chosen{};
    int found = 0;
    check(
        cublasLtMatmulAlgoGetHeuristic(session.cublas(), description.handle, first.handle, second.handle,
                                       product.handle, product.handle, preference.handle, 1, &chosen, &found),
        "cublasLtMatmulAlgoGetHeuristic", device);
    if (found == 0) check(CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmulAlgoGetHeuristic", device);
    void* room = session.workspace(chosen.workspaceSize);
    const float one = 1, zero = 0;
    check(cublasLtMatmul(session.cublas(), description.handle, &one, right.data, first.handle, left.data,
                         second.handle, &zero, out, product.handle, out, product.handle, &chosen.algo, room,
                         chosen.workspaceSize, session.stream()),
          "cublasLtMatmul", device);
  }

  static void make_layout(Layout& layout, int64_t rows, int64_t columns, int64_t step, int64_t count,
                          int device) {
    check(cublasLtMatrixLayoutCreate(&layout.handle, CUDA_R_32F, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate", device);
    auto set = [&](cublasLtMatrixLayoutAttribute_t key, const auto& value) {
      check(cublasLtMatrixLayoutSetAttribute(layout.handle, key, &value, sizeof value),
            "cublasLtMatrixLayoutSetAttribute", device);
    };
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(count));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
  }

  Shape stack_, left_stack_, right_stack_;
  int64_t rows_, columns_, depth_;
};

}  // namespace

std::unique_ptr<Job> prepare_matrix_product(const std::vector<Shape>& inputs, const Attributes& attributes) {
  attributes.allow({});
  Shape left = inputs[0], right = inputs[1], stack;
  auto misfit = [&](const char* rule) {
    return Failure{ENGINE_INVALID, "MatMul cannot multiply " + text_of(inputs[0]) + " by " +
                                       text_of(inputs[1]) + ": " + rule};
  };
  if (left.empty() || right.empty()) throw misfit("a scalar is no matrix.");
  const bool left_vector = left.size() == 1, right_vector = right.size() == 1;
  if (left_vector) left.insert(left.begin(), 1);
  if (right_vector) right.push_back(1);
  const int64_t rows = left[left.size() - 2], depth = left.back(), columns = right.back();
  if (right[right.size() - 2] != depth)
    throw misfit("the last size of the left one is the last but one of the right one.");
  Shape left_stack(left.begin(), left.end() - 2), right_stack(right.begin(), right.end() - 2);
  if (!broadcast(left_stack, right_stack, stack))
    throw misfit("the sizes before the matrices are equal or have a 1.");
  Shape result = stack;
  if (!left_vector) result.push_back(rows);
  if (!right_vector) result.push_back(columns);
  return std::make_unique<MatrixProduct>(std::move(result), std::move(stack), std::move(left_stack),
                                         std::move(right_stack), rows, columns, depth);
}

}  // namespace enginehost::engines::cuda
