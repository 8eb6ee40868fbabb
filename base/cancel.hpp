// Cancellation of a long operation.
#pragma once
#include <atomic>
#include <memory>

namespace enginehost {

// A shared flag: copies refer to the same request. Long operations check it at least every 100 ms and then fail with
// EH-P10. Thread safety: any thread may cancel or ask.
class CancelToken {
 public:
  void cancel() const { flag_->store(true, std::memory_order_relaxed); }
  bool canceled() const { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace enginehost
