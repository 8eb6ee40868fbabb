#include "engines/cuda/session.hpp"

#include "engines/cuda/instance.hpp"

namespace enginehost::engines::cuda {

Session::Session(int device, const Settings& settings) : device_(device), tf32_(settings.tf32) {
  // A non-blocking stream, because the legacy stream waits for the work of every other stream of the process.
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", device);
}

Session::~Session() {
  if (cudnn_ != nullptr) static_cast<void>(cudnnDestroy(cudnn_));
  if (cublas_ != nullptr) static_cast<void>(cublasLtDestroy(cublas_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

cublasLtHandle_t Session::cublas() {
  if (cublas_ == nullptr) check(cublasLtCreate(&cublas_), "cublasLtCreate", device_);
  return cublas_;
}

cudnnHandle_t Session::cudnn() {
  if (cudnn_ == nullptr) {
    cudnnHandle_t made = nullptr;
    check(cudnnCreate(&made), "cudnnCreate", device_);
    cudnn_ = made;
    check(cudnnSetStream(cudnn_, stream_), "cudnnSetStream", device_);
  }
  return cudnn_;
}

void* Session::workspace(size_t bytes) {
  if (bytes > workspace_size_) {
    workspace_ = Buffer();
    workspace_size_ = 0;
    workspace_ = Buffer(bytes, device_);
    workspace_size_ = bytes;
  }
  return workspace_.data();
}

Session& session_on(int device, engine_instance* engine) {
  auto at = static_cast<size_t>(device);
  if (engine->sessions.size() <= at) engine->sessions.resize(at + 1);
  if (engine->sessions[at] == nullptr) {
    engine->sessions[at] = std::make_unique<Session>(device, engine->settings);
    engine->devices.list[at]->in_use = true;
  }
  return *engine->sessions[at];
}

}  // namespace enginehost::engines::cuda
