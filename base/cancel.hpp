// How a caller gives up on a long operation.
#pragma once
#include <atomic>
#include <memory>

namespace enginehost {

// A shared flag: copies refer to the same request. Any thread may ask or cancel. Long operations look at it at least
// every 100 ms and then fail with EH-P10.
class CancelToken {
 public:
  void cancel() const { flag_->store(true, std::memory_order_relaxed); }
  bool canceled() const { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace enginehost
