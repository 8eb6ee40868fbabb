// The kernels of kernels.cu as C++ functions. embedded_kernels.cpp has the same functions where nvcc does not
// compile them. They are queued in `stream` of the current device and do not
// wait. The result is that of the launch; errors on the device appear when the stream is synchronized.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace enginehost::engines::cuda {

enum class Binary { add, multiply };

// The threads of a block, and the blocks of a launch: enough to fill any device; each thread may take several
// elements.
constexpr int threads = 256;
inline int64_t blocks_for(int64_t items, int64_t per_block) {
  constexpr int64_t most = 65535;
  const int64_t wanted = (items + per_block - 1) / per_block;
  return wanted < most ? wanted : most;
}

// The axes of a broadcast result, the last one fastest, and how many elements each operand moves along each
// of them (0: the operand repeats). Neighboring axes with the same steps are merged.
struct Axes {
  static constexpr int most = 8;
  int count = 0;
  int64_t size[most] = {};
  int64_t left_step[most] = {};
  int64_t right_step[most] = {};
};

// Positions of the operands for one element of the result. One function for the kernel and for the tests on
// the host.
struct Position {
  int64_t left, right;
};
#ifdef __CUDACC__
__host__ __device__
#endif
    inline Position
    position_of(const Axes& axes, int64_t element) {
  Position out{0, 0};
  for (int axis = axes.count - 1; axis > 0; axis--) {
    const int64_t at = element % axes.size[axis];
    element /= axes.size[axis];
    out.left += at * axes.left_step[axis];
    out.right += at * axes.right_step[axis];
  }
  out.left += element * axes.left_step[0];
  out.right += element * axes.right_step[0];
  return out;
}

cudaError_t launch_binary(Binary operation, const float* left, const float* right, float* out,
                          int64_t elements, const Axes& axes, cudaStream_t stream);
// A NaN stays a NaN.
cudaError_t launch_relu(const float* in, float* out, int64_t elements, cudaStream_t stream);
// `in` is [outer, length, inner]; each line along `length` sums to 1.
cudaError_t launch_softmax(const float* in, float* out, int64_t outer, int64_t length, int64_t inner,
                           cudaStream_t stream);

}  // namespace enginehost::engines::cuda
