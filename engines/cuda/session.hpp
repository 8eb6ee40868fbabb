// What operations on one device share: a stream, the handles of cuBLASLt and cuDNN, and room for their
// algorithms.
#pragma once
#include "engines/cuda/memory.hpp"

namespace enginehost::engines::cuda {

struct Settings {
  int device = 0;     // where operations on host memory are computed: the option "cuda.device"
  bool tf32 = false;  // "cuda.tf32": products may round their factors to 10 bits of mantissa
};

// [obj] Its device must be current when it is made, used and destroyed.
class Session {
 public:
  // Throws a Failure where the device does not open.
  Session(int device, const Settings& settings);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int device() const { return device_; }
  bool tf32() const { return tf32_; }
  cudaStream_t stream() const { return stream_; }
  cublasLtHandle_t cublas();  // made when first asked for: not every program multiplies
  cudnnHandle_t cudnn();
  // Room for an algorithm, at least so large; what it held is gone at the next call.
  void* workspace(size_t bytes);
  // Waits until all work is done. What went wrong on the device comes out here.
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
