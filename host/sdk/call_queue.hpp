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
  struct Place {
    std::condition_variable comes;  // its turn
  };
  using Places = std::list<Place>;

 public:
  // Ends when it goes.
  class Turn {
   public:
    Turn(CallQueue* queue, Places::iterator place) : queue_(queue), place_(place) {}
    Turn(Turn&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)), place_(other.place_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (queue_ != nullptr) queue_->leave(place_);
    }

   private:
    CallQueue* queue_;
    Places::iterator place_;
  };

  // Waits for whoever came before; EH-P10 when cancelled before that.
  Result<Turn> take(const std::optional<CancelToken>& cancel);

 private:
  void leave(Places::iterator place);
  std::mutex mutex_;
  Places waiting_;  // the first has the turn
};

}  // namespace enginehost::sdk
