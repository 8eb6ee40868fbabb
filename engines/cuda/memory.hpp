// Device resources that are released when they go out of scope.
#pragma once
#include "engines/cuda/failure.hpp"

namespace enginehost::engines::cuda {

// Makes `device` the thread's current one and restores the previous one at the end. Throws a Failure.
// Restoring opens a context on the previous device.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice", -1);
    if (before_ == device) return;
    check(cudaSetDevice(device), "cudaSetDevice", device);
    moved_ = true;
  }
  ~OnDevice() {
    if (moved_) static_cast<void>(cudaSetDevice(before_));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool moved_ = false;
};

// Memory of the current device; it can be freed while any device is current. Throws a Failure (no memory).
class Buffer {
 public:
  Buffer() = default;
  Buffer(size_t bytes, int device) {
    if (bytes == 0) return;
    cudaError_t error = cudaMalloc(&data_, bytes);
    if (error == cudaSuccess) return;
    data_ = nullptr;
    static_cast<void>(cudaGetLastError());  // clears the error for the next call
    Failure failure = failed_call(error, "cudaMalloc", device);
    failure.details.emplace_back("required", std::to_string(bytes));
    failure.message += "; " + std::to_string(bytes) + " bytes were requested";
    throw failure;
  }
  ~Buffer() {
    if (data_ != nullptr) static_cast<void>(cudaFree(data_));
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }
  void* release() { return std::exchange(data_, nullptr); }

 private:
  void* data_ = nullptr;
};

}  // namespace enginehost::engines::cuda
