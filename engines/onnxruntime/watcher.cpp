#include "engines/onnxruntime/watcher.hpp"

#include <chrono>

namespace enginehost::engines::onnxruntime {

Watcher::~Watcher() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watcher::loop() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    // Both waits have a timeout, because a wait without one would need a newer libstdc++ than ONNX Runtime
    // itself.
    if (watches_.empty()) {
      changed_.wait_for(lock, std::chrono::hours(1));
      continue;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(20));
    for (Watch* watch : watches_) {
      if (watch->stopped_ || watch->call_->is_cancelled(watch->call_) == 0) continue;
      watch->stopped_ = true;
      if (OrtStatus* status = api::set_terminate(runtime_->table(), watch->options_)) {
        api::release_status(runtime_->table(), status);
      }
    }
  }
}

Watcher::Watch::Watch(Watcher& watcher, engine_call* call, OrtRunOptions* options)
    : watcher_(watcher), call_(call), options_(options) {
  std::lock_guard lock(watcher_.mutex_);
  if (!watcher_.thread_.joinable()) watcher_.thread_ = std::thread([&watcher] { watcher.loop(); });
  watcher_.watches_.push_back(this);
  if (watcher_.watches_.size() == 1) watcher_.changed_.notify_one();
}

Watcher::Watch::~Watch() {
  std::lock_guard lock(watcher_.mutex_);
  watcher_.watches_.remove(this);
}

bool Watcher::Watch::stopped() const {
  std::lock_guard lock(watcher_.mutex_);
  return stopped_;
}

}  // namespace enginehost::engines::onnxruntime
