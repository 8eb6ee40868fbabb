// MatMul like numpy's matmul: stacks of matrices broadcast; vectors are promoted and lose the added axis
// again.
#include "engines/reference/gemm.hpp"
#include "engines/reference/operation.hpp"

namespace enginehost::engines::reference {
namespace {

engine_status misfit(const OperationCall& call, const char* rule) {
  const engine_tensor& left = *call.inputs[0];
  const engine_tensor& right = *call.inputs[1];
  Text text;
  text << "MatMul cannot multiply ";
  text.shape(left.ndim, left.shape) << " by ";
  text.shape(right.ndim, right.shape) << ": " << rule;
  return refuse(call.call, ENGINE_INVALID, "reference", text);
}

// Returns which matrix of a stack belongs to number `index` of the broadcast stack.
size_t stack_position(size_t index, int32_t rank, const int64_t* stack, int32_t own_rank,
                      const int64_t* own) {
  size_t position = 0, next = 1;
  for (int32_t i = rank - 1; i >= 0; i--) {
    size_t coordinate = index % static_cast<size_t>(stack[i]);
    index /= static_cast<size_t>(stack[i]);
    int32_t at = i - (rank - own_rank);
    if (at < 0) continue;
    if (own[at] != 1) position += coordinate * next;
    next *= static_cast<size_t>(own[at]);
  }
  return position;
}

}  // namespace

engine_status matrix_product(const OperationCall& call) {
  static constexpr const char* known[] = {nullptr};
  if (engine_status status = call.attributes.allow(call.name, known, call.call)) return status;
  const engine_tensor& left = *call.inputs[0];
  const engine_tensor& right = *call.inputs[1];
  if (left.ndim == 0 || right.ndim == 0) return misfit(call, "a scalar is no matrix.");
  bool left_vector = left.ndim == 1, right_vector = right.ndim == 1;
  int64_t depth = left.shape[left.ndim - 1];
  if (right.shape[right_vector ? 0 : right.ndim - 2] != depth) {
    return misfit(call, "the last size of the left one is the last but one of the right one.");
  }
  int64_t rows = left_vector ? 1 : left.shape[left.ndim - 2];
  int64_t columns = right_vector ? 1 : right.shape[right.ndim - 1];
  int32_t left_stack = left_vector ? 0 : left.ndim - 2, right_stack = right_vector ? 0 : right.ndim - 2;
  int32_t rank = 0;
  int64_t shape[maximum_rank];
  if (!broadcast(left_stack, left.shape, right_stack, right.shape, rank, shape)) {
    return misfit(call, "the sizes before the matrices are equal or have a 1.");
  }
  size_t matrices = element_count(rank, shape);
  int32_t out_rank = rank;
  if (!left_vector) shape[out_rank++] = rows;
  if (!right_vector) shape[out_rank++] = columns;
  float* out = nullptr;
  if (engine_status status = reserve(call, out_rank, shape, out)) return status;
  if (element_count(out_rank, shape) == 0) return ENGINE_OK;  // there may be many matrices without elements

  auto m = static_cast<size_t>(rows), n = static_cast<size_t>(columns), k = static_cast<size_t>(depth);
  const float* a = data_of<const float>(left);
  const float* b = data_of<const float>(right);
  Progress progress(call.call, "compute", gemm_work(m, n, k) * matrices);
  for (size_t i = 0; i < matrices; i++) {
    size_t from_left = stack_position(i, rank, shape, left_stack, left.shape);
    size_t from_right = stack_position(i, rank, shape, right_stack, right.shape);
    engine_status status = gemm(call.kernels, m, n, k, {a + from_left * m * k, k},
                                {b + from_right * k * n, n}, out + i * m * n, n, progress);
    if (status != ENGINE_OK) return status;
  }
  return ENGINE_OK;
}

}  // namespace enginehost::engines::reference
