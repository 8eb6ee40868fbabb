// Shared state of operations on one device: a stream, the handles of cuBLASLt and cuDNN, and workspace for
// their algorithms.
#pragma once
#include "engines/cuda/memory.hpp"

namespace enginehost::engines::cuda {

struct Settings {
  int device = 0;     // the device that computes operations on host memory: the option "cuda.device"
  bool tf32 = false;  // "cuda.tf32": products may round their factors to 10 bits of mantissa
};

// [obj] The device must be current when a session is made, used and destroyed.
class Session {
 public:
  // Throws a Failure if the device does not open.
  Session(int device, const Settings& settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int device() const { return device_; }
  bool tf32() const { return tf32_; }
  cudaStream_t stream() const { return stream_; }
  cublasLtHandle_t cublas();  // created at first use: not every program multiplies
  cudnnHandle_t cudnn();
  // Returns workspace of at least that size; its contents are lost at the next call.
  void* workspace(size_t bytes);
  // Waits until all work is done. Errors on the device appear here.
  void finish() { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", device_); }

 private:
  int device_;
  bool tf32_;
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t cublas_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  Buffer workspace_;
  size_t workspace_size_ = 0;
};

}  // namespace enginehost::engines::cuda
