// Calls that may not overlap, made by many threads: one after the other, in the order they came.
#pragma once
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost::sdk {

// Any thread. It outlives the turns that are taken.
class CallQueue {
  // Who waits sleeps at its own, so that a turn that ends wakes one thread and not all.
  struct QueuePlace {
    std::condition_variable comes;  // its turn
  };
  using Places = std::list<QueuePlace>;

 public:
  // Ends when it goes.
  class QueueTurn {
   public:
    QueueTurn(CallQueue* queue, Places::iterator place) : queue_(queue), place_(place) {}
    QueueTurn(QueueTurn&& other) noexcept
        : queue_(std::exchange(other.queue_, nullptr)), place_(other.place_) {}
    QueueTurn& operator=(QueueTurn&&) = delete;
    ~QueueTurn() {
      if (queue_ != nullptr) queue_->leave(place_);
    }

   private:
    CallQueue* queue_;
    Places::iterator place_;
  };

  // Waits for whoever came before; EH-P10 when canceled before that.
  Result<QueueTurn> take(const std::optional<CancelToken>& cancel);

 private:
  void leave(Places::iterator place);
  std::mutex mutex_;
  Places waiting_;  // the first has the turn
};

}  // namespace enginehost::sdk
