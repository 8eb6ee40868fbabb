// Serializes calls of many threads that must not overlap, in the order of their arrival.
#pragma once
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost::sdk {

// Any thread. Must outlive its turns.
class CallQueue {
  // Each waiting thread has its own condition variable, so that the end of a turn wakes one thread and not
  // all.
  struct QueuePlace {
    std::condition_variable comes;  // signaled when its turn begins
  };
  using Places = std::list<QueuePlace>;

 public:
  // The destructor ends the turn.
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

  // Waits for all earlier calls; EH-P10 if canceled before the turn.
  Result<QueueTurn> take(const std::optional<CancelToken>& cancel);

 private:
  void leave(Places::iterator place);
  std::mutex mutex_;
  Places waiting_;  // the first has the turn
};

}  // namespace enginehost::sdk
