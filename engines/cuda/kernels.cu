#include <cmath>

#include "engines/cuda/kernels.hpp"

namespace enginehost::engines::cuda {
namespace {

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Multiply {
  __device__ float operator()(float a, float b) const { return a * b; }
};

template <class Operation>
__device__ void binary(const float* left, const float* right, float* out, int64_t elements, Axes axes) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < elements; i += stride) {
    const Position from = position_of(axes, i);
    out[i] = Operation()(left[from.left], right[from.right]);
  }
}

// Keeps a NaN, which fmaxf would lose.
struct Largest {
  __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Reduces the values of all threads of the block and returns the result to each of them.
template <class Operation>
__device__ float together(float value, float* room) {
  __syncthreads();  // another thread may still read the room for the previous value
  room[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) room[threadIdx.x] = Operation()(room[threadIdx.x], room[threadIdx.x + half]);
    __syncthreads();
  }
  return room[0];
}

}  // namespace

// The names by which embedded_kernels.cpp finds the kernels.
extern "C" {

__global__ void enginehost_add(const float* left, const float* right, float* out, int64_t elements, Axes axes) {
  binary<Add>(left, right, out, elements, axes);
}

__global__ void enginehost_multiply(const float* left, const float* right, float* out, int64_t elements,
                                    Axes axes) {
  binary<Multiply>(left, right, out, elements, axes);
}

__global__ void enginehost_relu(const float* in, float* out, int64_t elements) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < elements; i += stride) {
    const float value = in[i];
    out[i] = value < 0 ? 0 : value;
  }
}

__global__ void enginehost_softmax(const float* in, float* out, int64_t lines, int64_t length, int64_t inner) {
  __shared__ float room[threads];
  for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
    const int64_t start = line / inner * length * inner + line % inner;
    float largest = -INFINITY;
    for (int64_t i = threadIdx.x; i < length; i += threads) largest = Largest()(largest, in[start + i * inner]);
    largest = together<Largest>(largest, room);
    float sum = 0;
    for (int64_t i = threadIdx.x; i < length; i += threads) sum += expf(in[start + i * inner] - largest);
    sum = together<Sum>(sum, room);
    for (int64_t i = threadIdx.x; i < length; i += threads)
      out[start + i * inner] = expf(in[start + i * inner] - largest) / sum;
  }
}

}  // extern "C"

#ifndef __CUDACC_RTC__  // embedded_kernels.cpp has the host's functions for what NVRTC compiles

cudaError_t launch_binary(Binary operation, const float* left, const float* right, float* out, int64_t elements,
                          const Axes& axes, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(blocks_for(elements, threads));
  if (operation == Binary::add)
    enginehost_add<<<blocks, threads, 0, stream>>>(left, right, out, elements, axes);
  else
    enginehost_multiply<<<blocks, threads, 0, stream>>>(left, right, out, elements, axes);
  return cudaGetLastError();
}

cudaError_t launch_relu(const float* in, float* out, int64_t elements, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(blocks_for(elements, threads));
  enginehost_relu<<<blocks, threads, 0, stream>>>(in, out, elements);
  return cudaGetLastError();
}

cudaError_t launch_softmax(const float* in, float* out, int64_t outer, int64_t length, int64_t inner,
                           cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(blocks_for(outer * inner, 1));
  enginehost_softmax<<<blocks, threads, 0, stream>>>(in, out, outer * inner, length, inner);
  return cudaGetLastError();
}

#endif

}  // namespace enginehost::engines::cuda
