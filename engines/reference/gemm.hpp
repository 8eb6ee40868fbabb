// Matrix products in blocks that fit the caches.
#pragma once
#include "engines/reference/kernels.hpp"
#include "engines/reference/progress.hpp"

namespace enginehost::engines::reference {

// A matrix in row-major memory; `stride` is the distance between rows, in floats.
struct Matrix {
  const float* data;
  size_t stride;
};

// Work units of gemm() for a Progress: multiplications.
inline uint64_t gemm_work(size_t rows, size_t columns, size_t depth) {
  return uint64_t{rows} * columns * (depth > 0 ? depth : 1);
}

// out[rows,columns] = left[rows,depth] * right[depth,columns]. Needs a few megabytes of scratch memory.
engine_status gemm(const Kernels& kernels, size_t rows, size_t columns, size_t depth, Matrix left,
                   Matrix right, float* out, size_t out_stride, Progress& progress);

}  // namespace enginehost::engines::reference
