// The inner loops, compiled once for each instruction set; create() chooses the best one for this processor.
#pragma once
#include <cstddef>

namespace enginehost::engines::reference {

enum class Operand { both_vectors, left_scalar, right_scalar };

// Pure functions over memory that does not overlap, apart from out == an input. [any]
struct Kernels {
  const char* name;
  // Computes one block of a matrix product: `rows` x `columns` sums over `depth`, from operands packed so
  // that a step reads `rows` and `columns` floats in a row. Adds to `out` or replaces it.
  size_t rows, columns;
  void (*tile)(size_t depth, const float* left, const float* right, float* out, size_t stride, bool add_to);
  // `stream` writes past the caches, which suits results that are larger than the caches.
  void (*add)(const float* left, const float* right, float* out, size_t count, Operand operand, bool stream);
  void (*multiply)(const float* left, const float* right, float* out, size_t count, Operand operand,
                   bool stream);
  void (*relu)(const float* in, float* out, size_t count, bool stream);
  // One row of a softmax, numerically safe: the largest value is subtracted first.
  void (*softmax)(const float* in, float* out, size_t count);
};

constexpr size_t largest_tile = 14 * 32;

extern const Kernels baseline_kernels;
#ifdef __x86_64__
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

// Returns the kernels with that name, or the best for nullptr. nullptr when this processor or this build
// lacks them.
const Kernels* choose_kernels(const char* name);

}  // namespace enginehost::engines::reference
